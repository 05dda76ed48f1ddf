"""Large problems: bounds in integers and placements, without a variable for every pair at first.

- What is decided: plain_groups, plain_group, state.
- First placements: greedy, make_room, construct.
- Prices and columns: node_states, room_by_evictions, classes, prices, bundles, master_problem,
  carry_out, column_generation.
- Programs over nodes: window, integer_program, rounding, relaxation, kernel_search,
  neighbourhoods, certify.
- All together: incumbent, shortage, room_shortage, close_gap, solve.
"""
