"""Relations of newer memories to older ones, judged once by a model when the newer one is stored."""
