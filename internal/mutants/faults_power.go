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
			name: "keys are not on the disk before their message", file: "internal/whatsapp/keys/decryption.go",
			old: "	return k.rows.note(ctx, k.adopt(d))", new: "	if err := k.adopt(d); err != nil {\n		return k.rows.note(ctx, err)\n	}\n	return k.rows.flush(ctx, d.message)",
			test: tests, run: "KilledInTheMiddle",
		},
		{
			name: "nothing leaves before it is kept", file: "internal/whatsapp/keys/session.go",
			old: "	if err := k.rows.flush(ctx, nil); err != nil {\n		return err\n	}\n	if send != nil && send.ready != nil {\n		return send.ready(ctx)\n	}\n	return nil", new: "	return nil",
			test: tests, run: "KilledInTheMiddle",
		},
		{
			name: "a file has its content before its name", file: "internal/media/folder/folder.go",
			old: "	if err == nil {\n		err = s.sync(file)\n	}\n", new: "",
			test: tests, run: "ServedFile",
		},
		{
			name: "half a file is removed at the start", file: "internal/media/folder/folder.go",
			old: "if err := s.root.RemoveAll(incoming); err != nil {", new: "if err := s.root.MkdirAll(incoming, 0o700); err != nil {",
			test: tests, run: "FileHalfWay",
		},
	}
}
