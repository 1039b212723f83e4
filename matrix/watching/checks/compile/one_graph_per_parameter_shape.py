from __future__ import annotations

from .shared import Recompiled


class OneGraphPerParameterShape(Recompiled):
    since = "2.7"  # its log names the parameter
    change = "Pass parameter.detach() to the compiled function"
    pattern = r"tensor '(\w+)' size mismatch .*on a parameter"
    message = "{0}() was recompiled {1} times because the parameter {2} had a different shape"
