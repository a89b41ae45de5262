package main

// versionFaults break how sessions keep up with the versions that the platform accepts.
func versionFaults() []fault {
	return []fault{
		{
			name: "an outdated session comes back", file: "internal/whatsapp/owner.go",
			old: "	s.connector.versions.Await(s.ctx)\n	return true\n", new: "	return false\n",
			test: whatsappTests, run: "SessionComesBackWithANewerVersion",
		},
		{
			name: "a session claims what was looked up", file: "internal/whatsapp/session.go",
			old: "	version.Claim(payload, newest)\n", new: "",
			test: whatsappTests, run: "SessionComesBackWithANewerVersion",
		},
		{
			name: "a refusal waits for its look-up", file: "internal/whatsapp/version/keeper.go",
			old: "	case <-news:\n	case <-ctx.Done():\n		return ctx.Err()\n	}\n", new: "	case <-news:\n	case <-ctx.Done():\n		return ctx.Err()\n	default:\n	}\n",
			test: versionTests, run: "RefusalsAtTheSameTime",
		},
		{
			name: "a pause between look-ups", file: "internal/whatsapp/version/keeper.go",
			old: "		k.notYet = now.Add(k.pause)\n", new: "",
			test: versionTests, run: "PausesGrow",
		},
		{
			name: "a version does not go back", file: "internal/whatsapp/version/keeper.go",
			old: "	if floor.LessThan(found) && (", new: "	if !found.IsZero() && (",
			test: versionTests, run: "VersionDoesNotGoBack",
		},
		{
			name: "an endless page is left", file: "internal/whatsapp/version/look_up.go",
			old: "	ctx, cancel := context.WithTimeout(ctx, patience)\n", new: "	ctx, cancel := context.WithTimeout(ctx, 1000*patience)\n",
			test: versionTests, run: "PageOfNoUse/endless",
		},
		{
			name: "a long page is left", file: "internal/whatsapp/version/look_up.go",
			old: "b.left < 0 {", new: "false {",
			test: versionTests, run: "PageOfNoUse/100_MB",
		},
		{
			name: "what was looked up is kept", file: "internal/whatsapp/version/keeper.go",
			old: "	k.write(ctx)\n}\n\n// note notes", new: "}\n\n// note notes",
			test: versionTests, run: "SurvivesARestart",
		},
		{
			name: "the sandbox refuses old versions", file: "internal/sandbox/fault/fault.go",
			old: "f.Outdated || version.Less(f.OldestVersion)", new: "f.Outdated",
			test: "./internal/sandbox", run: "OldVersionsAreRefused",
		},
	}
}
