"""Numbers that were chosen by measuring, with their units.

The heading of a section says what decides about its numbers: what they were measured on, or the
benchmark to run before and after a change. Numbers that are part of a definition (weights of
kube-scheduler, units of exact arithmetic) stand where they are used.
"""

# Which way a problem takes. Sizes are cells: pairs of a group of pods and a node it may be on.
# Decided by where one way becomes slower than the next on the rebalancing benchmark.

SMALL_CELLS = 3_000  # cells up to which the whole model is solved at once
MOST_CELLS = 60_000  # cells up to which the whole model is built to see what options change
WISHES_CELLS = 20_000  # cells up to which preferences are weighed; a plan says when they were not
ALL_NODES_CELLS = 20_000  # cells up to which a large problem takes all nodes in one program at once
WINDOWS_FIRST_CELLS = 100_000  # cells up to which it does so after windows have been searched

# The exact search. Shares are of the time limit; decided by tests/agreement and "Priority Matters".

WISH_SHARE = 0.1  # the most that a level of preferences gets
EVALUATION_SECONDS = 10.0  # seconds to judge a given state: enough, whatever the limit
LEAST_SHARE = 0.1  # what a step gets at the least, however much the steps before it took

# CP-SAT. Rates were measured on the published benchmarks.

# its deterministic seconds in a second of the limit: about what a real second brings:
CP_SAT_RATE = 0.2
LOWER_BOUND_RATE = 0.6  # the same where the branch with the least bound is looked at each time
# real seconds for each second of the limit, where deterministic ones can take longer:
CP_SAT_FUSE = 2.0
LEAST_CP_SAT_SECONDS = 0.1  # real seconds that a call of it gets at the least
LINEARIZATION = 2  # CP-SAT's level: all of its relaxations, since they raise bounds

# Large problems: what things cost. Seconds, measured on the machine of the published benchmarks;
# work is counted by them, so that the same input stops at the same place.

# counted seconds in a second of the limit: the rest is for what is not counted:
COUNTED_SHARE = 0.85
POD_SECONDS = 1e-4  # the first state, for each movable pod
HIGHS_ITERATION_SECONDS = 5e-8  # an iteration of HiGHS, for each column
HIGHS_COLUMN_SECONDS = 2e-5  # before anything is solved, for each column
HIGHS_PRESOLVE_SECONDS = 8e-5  # before a search in whole numbers begins, for each column
HIGHS_NODES = 1e5  # nodes of the search tree in a second, times columns
# real seconds for each second of the limit: nodes of hard programs can take much longer:
HIGHS_FUSE = 4.0
# real seconds that are left before a gap is looked at: loading MathOpt and a first step take them:
LEAST_CLOSING_SECONDS = 0.2
LEAST_HIGHS_SECONDS = 0.1  # real seconds that a call of HiGHS gets at the least
GLOP_COLUMN_SECONDS = 2e-5  # a linear program, for each column
GLOP_ITERATION_SECONDS = 1e-8  # an iteration of GLOP, for each column
ROUNDING_SECONDS = 1e-6  # looking at a row for rounding, for each entry
WINDOW_GROUP_SECONDS = 3e-5  # making a window, for each group of the cluster
PRICING_SECONDS = 2.5e-7  # a round of prices, for each state of a node and class of pods
CARRY_OUT_SECONDS = 1.5e-4  # making a state from columns, for each group

# Large problems: greedy placements. Decided by the rebalancing benchmark.

# share of the mean node below which a pod fits in many places, so that few nodes matter more:
SMALL_POD = 0.1
MOST_EVICTIONS = 3  # evictions for one pod that the greedy ways try
MOST_EVICTIONS_IN_TURN = 10  # the same where pods are placed one at a time
MOST_EVICTIONS_IN_A_CHAIN = 20  # there, with all that evicted pods drive off in their turn
ONE_AT_A_TIME = 40_000  # pods that are tried that way, times workloads
FEWEST_AT_A_TIME = 8  # where that leaves fewer pods to try, none is
MANY_DOMAINS = 64  # a rule over more domains than this is about hosts: it caps nodes one by one

# Large problems: column generation. Decided by the bound on 5,000 nodes.

PRICING_ROUNDS = 30  # rounds of prices and new columns at the most
PROMOTIONS = 4  # times that groups which are hard to land again get prices of their own
CHEAPEST_COLUMNS = 60  # columns added in a round, for each class
BIG_POD = 1 / 12  # pods below this share of the largest node they may be on are never big
AS_BIG = 0.8  # waiting pods are big from this share of the smallest one that finds no room
AS_BIG_AS_STUCK = 0.95  # the same for promotion, by the smallest evicted pod that finds no room
# pods of a node whose departures have prices of their own; 2 to this power are its states:
UNITS = 6
MOST_UNITS = 10  # the same where few nodes have so many,
STATES_OF_A_NODE = 8  # which is where nodes have so many states in the mean
SIZE_STEPS = 40  # steps of the mean node in which the requests of one class of promoted pods agree
GRID = 64  # steps of the grid on which several big pods are put on one node
# bundles of big pods that are looked at to decide in whole numbers whether the bound can be met:
MOST_BUNDLES = 20_000
WHOLE_WAYS_SHARE = 0.2  # of the time left, for that
MISSING_COST = 40.0  # moves that a landing without a column costs: more than any sensible way
COVERS = 4  # evictions up to which every set is looked at to find the smallest

# Large problems: the relaxation. Decided by the bound on 50 full nodes.

CUT_ROUNDS = 16  # rounds of rounding at the most
PURGE_ROUNDS = 3  # rounds after which inequalities that do not bind are dropped
CUT_PROGRESS = 0.02  # moves by which a round has to raise the bound
CUT_PATIENCE = 3  # rounds in a row that may raise it by less
DIVISORS = (1, 2, 3, 4)  # divisors are the amounts of columns in use, and these parts of them
CUT_DISTANCE = 1e-4  # how far a point has to be outside of an inequality for it to be worth a row

# Large problems: searches. Shares are of the time left; decided by the rebalancing benchmark.

FIRST_KERNEL_SHARE = 1 / 12  # for a first state over all nodes
BY_SIZE_SHARE = 1 / 5  # for each step of a search by size
PRICED_SEARCH_SHARE = 1 / 20  # for a state as good as prices say, over what they leave
PRICED_PROOF_SHARE = 0.8  # for the proof that there is none
ALL_COLUMNS_SHARE = 1 / 2  # for all columns at once
WINDOWS_SHARE = 0.1  # for windows, where one program over all nodes follows
RELAXATION_SHARE = 0.4  # for a relaxation
KERNEL_SHARE = 1 / 4  # for a kernel, of the time of its window
HIGHER_PRIORITIES_SHARE = 0.4  # for the higher priorities alone, where not everything finds room
# moves that departures and arrivals of a kernel may cost beyond the bound:
KERNEL_WIDTHS = ((0.03, 0.3), (0.1, 1.0), (0.3, 3.0))
# the same in a search by size; the last one has all columns:
BY_SIZE_WIDTHS = ((0.1, 0.1), (0.3, 0.3), (1.0, 0.1), (float("inf"), float("inf")))
# parts of the arrivals that are large in a search by size, one after the other:
LARGE_SHARES = (0.5, 0.25)
WINDOW_EMPTIEST = 8  # nodes of a narrow window: the emptiest for each group that landed,
WINDOW_OPENED = 3  # other nodes that were opened,
WINDOW_LANDED = 4  # and those on which evicted pods landed
ROOMY_WINDOWS = (20, 40)  # nodes of the windows for pods without a node, one after the other
WINDOW_SECONDS = 8.0  # the most for one window: another one is worth more than its last branches

# Packing. Shares are of the time limit; decided by "Priority Matters" at 1 s.

# cells up to which the whole model decides what packing leaves open, and the moves:
PACKING_MODEL_CELLS = 1_500
REFILL_CELLS = 500_000  # cells up to which it pays to fill nodes anew
# groups times kinds of nodes up to which prices on room bound what can be placed:
PRICED_CELLS = 100_000
WHOLE_BOUND_CELLS = 10_000  # groups times nodes up to which one program over all of them does
WHOLE_BOUND_WORK_SECONDS = 2.0  # seconds that a deterministic one takes there
# kinds of nodes, and groups, up to which patterns of pods on them do in larger clusters:
PATTERN_KINDS, PATTERN_GROUPS = 60, 1_000
PATTERN_WORK_SECONDS = 2.5  # seconds that a deterministic one takes for the best pattern of a node
PATTERN_NODE_SECONDS = 2e-3  # before that, for each node
PATTERN_SECONDS = 6e-8  # a linear program over patterns, for each of them and each group
PATTERN_CELL_SECONDS = 1e-6  # patterns that are found quickly, for each kind and group
REARRANGED_CELLS = 8_000_000  # groups times nodes up to which nodes are rearranged in windows
REARRANGING_SHARE = 0.85  # for that: the rest is for trials with kube-scheduler's own choices
PROVING_LIMIT = 5.0  # seconds from which on it is proven in between that no more can be placed
PROVING_SHARES = ((0.3, 0.1), (0.7, 0.25))  # of that time: after how much, and for how much
# nodes of a window, and CP-SAT's deterministic seconds:
REFILL_WINDOWS = ((16, 0.05), (24, 0.1), (32, 0.2))
# where a group has so few nodes, others leave them, and these with all that compete for them:
FEW_NODES, COMPETED_FOR_NODES = 16, 32
VISITORS_WORK, VISITORS_WINDOWS = 0.3, 6  # deterministic seconds, and windows for who left
LEAST_WORK = 0.02  # deterministic seconds that a window gets at the least
REFILL_WORK_SECONDS = 1.0  # seconds that a deterministic one of such a window takes
WINDOW_BUILD_SECONDS = 0.02  # making a window
CHAIN_SECONDS = 2e-8  # looking for chains, for each place that is looked at
LONGEST_CHAIN = 6  # pods that take each other's place before the last one fits
ROOM_NODES = 20  # nodes that several pods try to leave
MOST_LEAVE = 4  # pods that leave a node for one
LEAVING_SHARE = 0.02  # of the largest node: pods below this size leave as easily as any
SPARE_PRICE = 1e-6  # what room on a node counts where the price of several is the same
JOINING = 12  # waiting groups whose pods may come to a window
WINDOWS_BEFORE_FILL = 6  # windows after which that is done
# how much more often each open priority is chosen than the one below, by success: at first, later
EARLY_FIRST_RANK, FIRST_RANK, EARLY_SHARE = 4.0, 64.0, 0.5
LONG_SEARCH = 5.0  # seconds from which on there is a later part
FORGET = 0.97  # what earlier successes count from window to window
LEAST_WASTE = 0.02  # pods by which any node counts as filled badly
WINDOW_NOISE = 0.3  # what chance adds to the share of a node that is lacking
CHEAP = 0.05  # pods for the largest node: room that costs less is as cheap as any
PLACING_PATIENCE = 8  # windows in a row that place no more, before every other one saves moves
FRUITLESS_WINDOWS = 40  # windows in a row that save no move before the search ends
PACKING_SHARE = 0.9  # for all of it, as far as it is counted
WALK_SHARE = 0.08  # first walks
IDENTICAL_SHARE = 0.2  # all ways to fill nodes that are alike
REFILL_SHARE = 0.25  # nodes filled anew,
ALIKE_REFILL_SHARE = 0.5  # and where they are alike
LAST_WALK_SHARE = 0.15  # last walks, where nodes differ or are too many to fill anew
FULL_NODES_SHARE = 0.06  # the proof that one pod has to stay out,
LAST_FULL_NODES_SHARE = 0.6  # and in the end
PLAN_RESERVE = 0.4  # seconds that are left for ordering and checking the plan
STEP_SECONDS = 4e-5  # a step of a walk
STEP_POD_SECONDS = 1.2e-7  # the same, for each pod
SET_SECONDS = 7e-8  # a set of pods in filling nodes anew
REMAINDER_SECONDS = 8e-8  # a set that is tried on a remainder
SUM_SECONDS = 5e-8  # a sum in the proof that one pod has to stay out
MOST_SUMS = 12_000_000  # sums there at the most, which is what memory allows
MOST_PAIRS = 2_000_000  # pairs of halves there
HALF_SECONDS = 1.4e-8  # half a set of few pods in the proof that nodes with few pods waste too much
REST_HALVES = 3  # halves that take as long as it takes to make one that lacks a pod
MOST_FULL_SETS = 30_000  # sets of few pods that fill a node
PRICED_SET_HALVES = 600  # halves that take as long as such a set in the linear program
# nodes for each part of what may be wasted; sets with as many pods as the mean waste one part:
NODES_FOR_PART = 4
# times what a node wastes in the mean: that much the sets waste which fill most nodes at the most
CLOSE_SHARES = (3.0, 2.0, 1.5, 1.0)
CLOSE_SETS = 50_000  # such sets at the most, of which a share is chosen
CLOSE_SET_SECONDS = 2e-6  # what one of them takes
DEAR_SET_SECONDS = 2.5e-8  # looking for sets that cost too much, for each that is looked at
CLOSE_SHARE = 0.65  # nodes filled by them
HALF_LEVELS = 2**14 - 1  # steps of what they request in which halves that lack a pod are ordered
RESTS_AT_ONCE = 200_000  # these are sorted so many at a time, which is what memory allows
HALF_GROUPS = 8  # groups for which these are kept together
HALVES_AT_ONCE = 240_000  # halves of a range
RANGES_AT_ONCE = 16  # ranges whose halves are kept, which is what memory allows
PAIRS_OF_HALVES = 100_000  # pairs of them in one array, which is what memory allows
FINE_RANGES = 1024  # steps of a node in which ranges end
CELL_BITS = 21  # 2 to this power are the cells of the table that says which may have a partner
CELL_WIDTHS = (16, 4)  # times the window: the width of a cell in both resources
SPARSE_SHARE = 0.75  # that proof
WALK_PATIENCE = 6  # rounds without success after which the first walks end
WALK_ATTEMPTS = 4  # ways of the same quality that are compared by their moves
WALK_ON_STEPS = 500  # steps for lower priorities after nodes that are alike were decided
LONGEST_WALK = 60  # steps of a walk
HAND_GROWTH = 1.3  # factor by which the pod in hand may grow
UNEVEN_WEIGHT = 0.5  # how much it counts that a step leaves a node with room of one resource only
# what chance adds to the weight of a step, and how that grows without success:
NOISE, MORE_NOISE, MOST_NOISE = 0.05, 0.05, 0.5
WEIGHT_STEPS = 16  # weights of two resources add up to this
REMAINDERS = (300, 1_500, 8_000, 40_000)  # remainders that are kept, from attempt to attempt
NODE_SET_SECONDS = 4e-7  # looking for all sets that fill a node, for each of them
MOST_NODE_SETS = 2_000_000  # of them at the most, which is what memory allows
NODE_SETS_SHARE = 0.6  # for that, of the time for sets
SETS_HOPE = 3  # times the sets that there is time for: with a guess above that none are looked for
MEMBER_SECONDS = 4e-9  # what sets cost by new prices, for each of their pods
SET_ROUND_SECONDS = 7e-5  # new prices on pods, for each group
NEAR_SETS = 8_000  # dear sets that are looked at again before all are
SETS_AT_ONCE = 60  # sets that come to the linear program by each round of prices
SETS_SHARE = 0.6  # nodes that are alike filled by sets
WHOLE_SET = 0.95  # how much of a set has to be used to take it beside another one
SET_ATTEMPTS = 4  # ways to take sets one after the other
LED_NODES = 24  # nodes that are filled together, led by what pods are worth,
LED_SETS = 2_500  # with so many sets at the most,
LED_REMAINDERS = 1_000  # and so many remainders that are kept
MEMBERS_AT_ONCE = 30_000  # sets of which these are chosen at a time, which is what memory allows
CHEAP_MEMBER_SECONDS = 3e-8  # choosing these sets, for each pod of all sets
LAST_NODES = (9, 11, 13)  # nodes that are looked at in all ways after the others got their sets
MOST_SETS = 200_000  # sets that fit on a node; with more, nothing is decided
MOST_CHOICES = 200  # choices of the pods that stay out; with more, nothing is decided
CHOICE_SETS = 5_000  # what a choice costs at the least, in sets
MOST_PARTS = 150  # groups, or parts of large groups: with more there are too many sets
# times the remainders that are kept: so many are looked through for equal ones:
SPARE_REMAINDERS = 6
PAIRS_AT_ONCE = 400_000  # remainders times sets in one array, which is what memory allows
# sets that are tried for a node, by the number of nodes left; otherwise one:
BRANCHES = {8: 2, 7: 2, 6: 2, 5: 3, 4: 6, 3: 48}
HALF_WINDOW = 0.04  # the part of the other half's sums that each sum is compared with
# what a node may waste of a tight resource, in shares of what there is to waste for each node left:
WASTE_SHARES = 3.0
HALF_SAMPLE = 62  # pods of half a sample at the most
SAMPLE_PODS = 22  # pods up to which all sets are looked at, otherwise those of a sample
KEPT_SUBSETS = 64  # tables of all sets of some pods that are kept
NODE_SETS = 1_000  # what the sets of one node cost beside their number, in sets
# in the first, the next and all later attempts at a number of pods: sets of half a sample, nodes
# that are filled together at the end, and for those sets, remainders and work at the most:
REFILL_CARE = (
    (300, 9, 40_000, 250, 1_000_000),
    (600, 9, 40_000, 250, 1_000_000),
    (1200, 11, 100_000, 400, 3_000_000),
    (2400, 11, 100_000, 400, 3_000_000),
    (4000, 11, 100_000, 400, 3_000_000),
)
REFILL_ATTEMPTS = 40  # attempts at a number of pods
CHOICE_WORK = 0.02  # deterministic seconds to choose pods that leave the most room
CHOICE_GROUP_SECONDS = 4e-5  # the same in seconds, for each group
# pods that are left out of the most that sums allow, from attempt to attempt:
LEFT_OUT = (0, 1, 2, 4, 8, 16)
