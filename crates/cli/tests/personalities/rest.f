# Words of the language that neither a personality nor another test's script has a use for: only read by the tests, never run.
