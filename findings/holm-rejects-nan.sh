#!/usr/bin/env bash
# Holm's correction rejects the one hypothesis that has no p-value.
#
# Versions: scipy 1.17.1, statsmodels 0.15.0, numpy 2.4.6, Python 3.11.
# A paired t test of a column with itself gives p = nan: no difference, no variance. Handed on with
# the other p-values, statsmodels' `multipletests(method="holm")` marks it as *rejected*, so a pair of
# identical columns counts as a significant difference. "holm-sidak" does the same; "bonferroni",
# "sidak" and "fdr_bh" do not reject it. The corrected value beside it is nan in all of them.
# "fdr_bh" turns every corrected value into nan and still rejects as if there were numbers.
# Guess before the run: nan is not below any threshold, so it is never rejected.
# Why: Holm's rule looks for the first p-value that is *above* its threshold; nan, sorted last, is not.
# Seen:
#   p-values  0.001 0.004 0.020 nan
#   holm      rejected: True True True True    corrected: 0.004 0.012 0.040 nan
#   fdr_bh    rejected: True True True False   corrected: nan nan nan nan
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet scipy==1.17.1 statsmodels==0.15.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import warnings

import numpy as np
from scipy.stats import ttest_rel
from statsmodels.stats.multitest import multipletests

warnings.simplefilter("ignore")
column = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
p_values = [0.001, 0.004, 0.02, float(ttest_rel(column, column).pvalue)]
print("p-values ", *(f"{p:.3f}" for p in p_values))
found = {}
for method in ("holm", "fdr_bh"):
    rejected, corrected = multipletests(p_values, method=method)[:2]
    found[method] = rejected.tolist()
    print(f"{method:<9} rejected:", *rejected, "  corrected:", *(f"{p:.3f}" for p in corrected))
assert np.isnan(p_values[3])
assert found == {"holm": [True] * 4, "fdr_bh": [True, True, True, False]}, found
PYTHON
