"""Results for machines that judge changes: GitHub annotations, JUnit and SARIF."""
