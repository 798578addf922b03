"""Other formats in and out. A reader yields records, one importer stores them; a writer is given memories."""
