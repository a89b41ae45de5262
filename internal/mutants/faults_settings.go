// Faults in the settings that change while the program runs, in its log, and in what it says
// while its database is away.

package main

const (
	settingsTests  = "./internal/cli/settings"
	repeatlogTests = "./internal/cli/repeatlog"
)

func settingsFaults() []fault {
	return []fault{
		{
			name: "a database that is away is no internal error", file: "internal/store/failure/failure.go",
			old: "	return fmt.Errorf(\"%w: %w\", gateway.ErrDatabaseAway, err)\n", new: "	return fmt.Errorf(\"away: %w\", err)\n",
			test: serverTests, run: "RequestsWhileTheDatabaseIsAway",
		},
		{
			name: "a message that the platform has is not answered as if a repeat did no harm", file: "internal/messaging/send.go",
			old: "	if _, ok := gateway.AsError(err); ok {\n		return err\n	}\n	return &gateway.Error{", new: "	if true {\n		return err\n	}\n	return &gateway.Error{",
			test: serverTests, run: "DatabaseGoesAwayAfterASend",
		},
		{
			name: "a commit whose outcome is not known is not said to have failed", file: "internal/postgres/tx.go",
			old: "	return &UncertainError{err}\n", new: "	return err\n",
			test: "./internal/postgres", run: "UncertainCommit",
		},
		{
			name: "wrong settings change nothing at a reload", file: "internal/server/settings.go",
			old:  "	if err := config.messages().Check(); err != nil {\n		return err\n	}\n	s.changed.Store(&config)\n	return nil\n",
			new:  "	s.changed.Store(&config)\n	return config.messages().Check()\n",
			test: "./cmd/recado", run: "Reload",
		},
		{
			name: "settings that need a restart are named", file: "internal/cli/settings/reload.go",
			old: "		case r.reloads[name]:\n", new: "		case name != \"\":\n",
			test: "./cmd/recado", run: "Reload",
		},
		{
			name: "a gateway ends with the window that it was started in", file: "internal/cli/reload.go",
			old: "if r.t.Gone() {", new: "if r.t.Gone() && false {",
			test: "./cmd/recado", run: "WindowIsClosed",
		},
		{
			name: "lines that are left out are told", file: "internal/cli/repeatlog/repeatlog.go",
			old: "		if c.left > 0 {", new: "		if c.left > 1<<40 {",
			test: repeatlogTests, run: "Repeats",
		},
		{
			name: "what is remembered of the log is bounded", file: "internal/cli/repeatlog/repeatlog.go",
			old: "		if len(l.counts) < place.most {", new: "		if place.most > 0 {",
			test: repeatlogTests, run: "MemoryIsBounded",
		},
		{
			name: "a variable wins over the file of settings", file: "internal/cli/settings/loader.go",
			old: "set := os.LookupEnv(name); set {", new: "set := os.LookupEnv(name); set && false {",
			test: settingsTests, run: "Precedence",
		},
		{
			name: "a setting that does not exist is refused", file: "internal/cli/settings/file.go",
			old: "	if name.Kind != yaml.ScalarNode || n < 0 {", new: "	if n < 0 {\n		return nil\n	}\n	if name.Kind != yaml.ScalarNode {",
			test: settingsTests, run: "Mistakes",
		},
	}
}
