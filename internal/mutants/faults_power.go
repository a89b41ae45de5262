package main

// powerFaults leave out a wait for the disk: a loss of power takes then what was
// acknowledged.
func powerFaults() []fault {
	const tests = "./internal/powerloss"
	return []fault{
		{
			name: "what is committed is on the disk", file: "internal/sqlite/sqlite.go",
			old: `"synchronous(FULL)"`, new: `"synchronous(NORMAL)"`,
			test: tests, run: "FirstSteps|Conversation",
		},
		{
			name: "the name of a new database is on the disk", file: "internal/sqlite/sqlite.go",
			old: "about.Size() == 0 {", new: "about.Size() < 0 {",
			test: tests, run: "FirstSteps",
		},
		{
			name: "a file has its content before its name", file: "internal/media/blob.go",
			old: "	if err == nil {\n		err = b.sync(file)\n	}\n", new: "",
			test: tests, run: "ServedFile",
		},
		{
			name: "half a file is removed at the start", file: "internal/media/blob.go",
			old:  "	err = root.RemoveAll(incoming)\n	if err == nil {\n		err = root.Mkdir(incoming, 0o700)\n	}\n",
			new:  "	err = root.MkdirAll(incoming, 0o700)\n",
			test: tests, run: "FileHalfWay",
		},
	}
}
