"""The review page: a local web server on top of a finished run.

In: a run, its verdicts, requests from the page. Out: JSON, the page, exports. Not here: learning
from verdicts (`review`), reasons (`explain`), sentences (`report`).
"""
