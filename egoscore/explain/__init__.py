"""Why a node: what deviates, which ties surprise, how unusual that is, in words.

In: a fitted recipe, a network, a node. Out: an `Explanation`, plain data that is written, printed
and drawn as it is. Not here: any page, table or terminal.
"""
