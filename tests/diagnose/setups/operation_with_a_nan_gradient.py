from tests.diagnose.setups.first_module_with_a_nan import (
    all_labels_are_ignored,
    gradient_of_sqrt_at_zero,
    inputs_are_nan,
)
from tests.diagnose.trainers import trainer

OUTCOMES = [[trainer], [gradient_of_sqrt_at_zero], [inputs_are_nan, all_labels_are_ignored]]
