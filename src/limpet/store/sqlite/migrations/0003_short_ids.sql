-- Short ids: memories by the last bytes of their ids (model/ids.py), which are random and so in no order of time.
CREATE INDEX memory_short ON memory (substr(id, 12)) WHERE retired_at IS NULL;
