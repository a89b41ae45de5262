package main

// baileysFaults break what docs/moving-in.md promises about programs on Baileys.
func baileysFaults() []fault {
	const (
		formats = "./internal/whatsapp/baileys"
		tests   = "./internal/movein"
	)
	return []fault{
		{
			name: "chains count messages", file: "internal/whatsapp/baileys/session.go",
			old: "uint32(c.Key.Counter + 1)}", new: "uint32(max(c.Key.Counter, 0))}",
			test: formats, run: "SessionGoesOn",
		},
		{
			name: "keys of late messages come along", file: "internal/whatsapp/baileys/session.go",
			old: "		link.MessageKeys = append(link.MessageKeys, kept)\n", new: "		_ = kept\n",
			test: formats, run: "SessionGoesOn",
		},
		{
			name: "a closed session is not the open one", file: "internal/whatsapp/baileys/session.go",
			old: "	if s.Index.Closed < 0 {\n		return math.MaxInt64\n	}\n	return s.Index.Closed", new: "	return s.Index.Closed % math.MaxInt64",
			test: formats, run: "ClosedSessions",
		},
		{
			name: "closed sessions come along", file: "internal/whatsapp/baileys/session.go",
			old: "PreviousStates: states[1:]}", new: "PreviousStates: states[:0]}",
			test: formats, run: "ClosedSessions",
		},
		{
			name: "the newest key of a group is the first", file: "internal/whatsapp/baileys/sender_key.go",
			old: "	slices.Reverse(all)\n", new: "	slices.Clone(all)\n",
			test: formats, run: "SenderKeyGoesOn",
		},
		{
			name: "a LID without its domain is found", file: "internal/whatsapp/baileys/baileys.go",
			old: "		case len(device.user) >= longNumber && !isThere:", new: "		case isThere && false:",
			test: tests, run: "MoveInFromBaileys/version_6",
		},
		{
			name: "the ids of prekeys go on", file: "internal/whatsapp/keys/material.go",
			old: "	if m.NextPreKey > last+1 {", new: "	if m.NextPreKey > last+1 && false {",
			test: formats, run: "TestRead",
		},
		{
			name: "prekeys that somebody has are not given again", file: "internal/whatsapp/baileys/app_state.go",
			old: "Given: id < uint64(s.own.firstAtHome)", new: "Given: id < 1",
			test: formats, run: "TestRead",
		},
		{
			name: "a huge file is not read", file: "internal/movein/folder.go",
			old: "	case len(content) > largestFile:", new: "	case len(content) < 0:",
			test: tests, run: "HugeFile",
		},
		{
			name: "a folder that changes is not imported", file: "internal/movein/folder.go",
			old: "	if now.mark != f.seen.mark {", new: "	if now.mark != f.seen.mark && false {",
			test: tests, run: "FolderChangesMeanwhile",
		},
		{
			name: "a folder in use is not imported", file: "internal/movein/baileys.go",
			old: "	if why != \"\" {\n", new: "	if false {\n",
			test: tests, run: "FolderInUse",
		},
		{
			name: "a folder that was just written is not imported", file: "internal/movein/baileys.go",
			old: "ago.Abs() < justNow {", new: "ago.Abs() < 0 {",
			test: tests, run: "FolderInUse",
		},
		{
			name: "Redis in use is not read", file: "internal/movein/redis.go",
			old: "count := others[database]; count > 0 {", new: "count := others[database]; count < 0 {",
			test: tests, run: "EvolutionInUse/Redis",
		},
		{
			name: "two credentials are not one", file: "internal/movein/evolution.go",
			old: "	case len(beside) > 0 && !baileys.SameDevice(creds, beside):", new: "	case len(beside) < 0:",
			test: tests, run: "TwoCredentials",
		},
		{
			name: "an instance keeps its name", file: "internal/movein/import.go",
			old: "cmp.Or(gateway.CleanName(device.Name), device.Profile.Name)", new: "cmp.Or(device.Profile.Name, gateway.CleanName(device.Name))",
			test: tests, run: "MoveInFromEvolution/keys_in_files",
		},
	}
}
