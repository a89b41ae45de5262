package main

// moveFaults break what docs/moving-in.md promises.
func moveFaults() []fault {
	const tests = "./internal/movein"
	return []fault{
		{
			name: "another program's keys are left alone", file: "internal/store/earlier/earlier.go",
			old: `"jid IN (SELECT device FROM instances)"`, new: `"jid <> ''"`,
			test: "./internal/server", run: "KeysOfAnotherProgramAreLeftAlone",
		},
		{
			name: "a store in use is not imported", file: "internal/movein/source.go",
			old: "		if why != \"\" {\n", new: "		if false {\n",
			test: tests, run: "SourceInUse",
		},
		{
			name: "a database in use is not imported", file: "internal/movein/source.go",
			old: "	case others > 0 && !config.Stopped:", new: "	case others < 0 && !config.Stopped:",
			test: tests, run: "SourceInUse",
		},
		{
			name: "the other program's database is no home", file: "internal/movein/source.go",
			old: "	case ours || tables:", new: "	case ours && tables:",
			test: tests, run: "SourceIsNotTheTarget",
		},
		{
			name: "a copy of a store has its log", file: "internal/movein/source.go",
			old: "[]string{\"\", \"-wal\", \"-journal\"}", new: "[]string{\"\", \"-journal\"}",
			test: tests, run: "SourceIsOnlyRead",
		},
		{
			name: "a copy of keys does not stay", file: "internal/movein/source.go",
			old: "return os.RemoveAll(folder)", new: "return nil",
			test: tests, run: "SourceIsOnlyRead",
		},
		{
			name: "a device does not come twice", file: "internal/movein/import.go",
			old: "; ok {\n		result.Name = here.Name", new: "; ok && false {\n		result.Name = here.Name",
			test: tests, run: "SecondImport",
		},
		{
			name: "a broken value is not shown", file: "internal/whatsapp/keys/foreign.go",
			old: "			return errOtherType\n", new: "			return err\n",
			test: tests, run: "BrokenDevice",
		},
		{
			name: "columns that are missing are filled", file: "internal/whatsapp/keys/foreign.go",
			old: "ok && !slices.Contains(there, column) {", new: "ok && len(there) > 99 {",
			test: keysTests, run: "OlderTables",
		},
		{
			name: "sessions go out as libsignal writes them", file: "internal/whatsapp/keys/export.go",
			old: "	return []any{name, encoded}, err", new: "	return []any{name, value}, errors.Join(err, json.Unmarshal(encoded, new(any)))",
			test: tests, run: "MoveOut/SQLite",
		},
		{
			name: "an export has only its own people", file: "internal/whatsapp/keys/export.go",
			old: "		if !knowsLID && !knowsPN {", new: "		if false && !knowsLID && !knowsPN {",
			test: keysTests, run: "OnlyItsOwnPeople",
		},
		{
			name: "an exported instance stays stopped", file: "internal/movein/export.go",
			old: "		changed.Status, changed.Reason = gateway.StatusManuallyStopped, gateway.ReasonStopped\n", new: "",
			test: tests, run: "ExportStopsTheInstance",
		},
		{
			name: "an instance in use is not exported", file: "internal/movein/export.go",
			old: "	case running && instance.Status != gateway.StatusManuallyStopped:", new: "	case false:",
			test: tests, run: "MoveOut/SQLite",
		},
	}
}
