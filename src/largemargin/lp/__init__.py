"""Linear-programming machines, solved by HiGHS."""
