package main

// cliFaults break what the command line promises.
func cliFaults() []fault {
	return []fault{
		{
			name: "keys makes no data by mistake", file: "internal/cli/data/data.go",
			old: `if file := p.config(nil).Path; file != "" && !exists(file) {`, new: "if false {",
			test: "./internal/cli/data", run: "KeysOfAMistypedFolder",
		},
		{
			name: "keys looks at the account of an instance", file: "internal/cli/data/keys.go",
			old:  "var found []string",
			new:  "if other, err := opened.GetInstance(ctx, nameOrID); err == nil { return other.ID, nil }; var found []string",
			test: "./internal/cli/data", run: "KeysCreate",
		},
		{
			name: "keys takes names of instances", file: "internal/cli/data/keys.go",
			old: "case instance.Name:", new: `case "":`,
			test: "./internal/cli/data", run: "KeysCreate",
		},
		{
			name: "dev looks at its key before it makes anything", file: "internal/cli/dev.go",
			old: `if c.APIKey != "" {`, new: "if false {",
			test: "./internal/cli", run: "AFailedStartLeavesNothing",
		},
		{
			name: "dev takes no key of another gateway", file: "internal/cli/dev.go",
			old: ` env:"RECADO_DEV_API_KEY"`, new: "",
			test: "./internal/cli", run: "DevTakesNoKeyOfAnotherGateway",
		},
		{
			name: "a public URL is an address", file: "internal/cli/serve.go",
			old: `if address.value != "" && !terminal.IsWebAddress(address.value) {`, new: "if false {",
			test: "./internal/cli", run: "FailuresAreExplained",
		},
		{
			name: "a webhook says how its delivery stands", file: "internal/cli/webhooks/webhooks.go",
			old: "(webhook.Secret != \"\")},\n		terminal.Pair{\"delivery\", delivery},\n", new: "(webhook.Secret != \"\")},\n		terminal.Pair{\"delivery\", delivery[:0]},\n",
			test: "./internal/cli/webhooks", run: "Standing",
		},
		{
			name: "an upload counts the bytes of its file", file: "internal/cli/progress/progress.go",
			old: "Size(u.total/4*3)", new: "Size(u.total)",
			test: "./cmd/recado", run: "ResultsOnATerminal",
		},
		{
			name: "the banner names its instance", file: "internal/cli/dev.go",
			old: "recado events --instance demo --after", new: "recado events --after",
			test: "./cmd/recado", run: "DevOnATerminal",
		},
		{
			name: "a short line holds no placeholder", file: "internal/cli/shortlog/shortlog.go",
			old: `strings.HasSuffix(route, "}") {`, new: "false {",
			test: "./internal/cli/shortlog", run: "ShortLines",
		},
		{
			name: "keys knows the account of dev", file: "internal/cli/data/data.go",
			old: "return demo.Account", new: `return "default"`,
			test: "./internal/cli/data", run: "KeysOfDev",
		},
		{
			name: "serve hints at a partner key", file: "internal/cli/serve.go",
			old: `keys create --name ops --partner"`, new: `keys create --name ops"`,
			test: "./cmd/recado", run: "ServeOnASandbox",
		},
		{
			name: "a code is black on white", file: "internal/cli/link.go",
			old: "line = blackOnWhite + line + plain", new: `line = line + ""`,
			test: "./cmd/recado", run: "CodeOnATerminal",
		},
		{
			name: "a code says when there is no room", file: "internal/cli/link.go",
			old: "columns, rows := l.t.Size()", new: "columns, rows := 0, 0",
			test: "./internal/cli", run: "CodeNeedsItsRoom",
		},
		{
			name: "failures have one prefix", file: "internal/cli/reason/reason.go",
			old: "return failure.Message", new: `return "recado: " + failure.Error()`,
			test: "./internal/cli/data", run: "KeysOfAMistypedFolder",
		},
		{
			name: "a port that is taken is explained", file: "internal/cli/reason/reason.go",
			old: "case errors.Is(failed, syscall.EADDRINUSE):", new: "case false:",
			test: "./internal/cli", run: "FailuresAreExplained",
		},
		{
			name: "a server that is down is explained", file: "internal/cli/reason/reason.go",
			old: "case errors.Is(failed, syscall.ECONNREFUSED):", new: "case false:",
			test: "./internal/cli", run: "FailuresAreExplained",
		},
		{
			name: "waiting is said", file: "internal/cli/progress/progress.go",
			old: "defer slow.Stop()", new: "slow.Stop()",
			test: "./internal/cli", run: "WaitingIsSaid",
		},
		{
			name: "a URL may end with /api", file: "internal/cli/target/target.go",
			old: `strings.TrimSuffix(strings.TrimRight(f.URL, "/"), "/api")`, new: "f.URL",
			test: "./internal/cli", run: "URLLosesItsEnd",
		},
		{
			name: "Ctrl-C is 130", file: "internal/cli/failure.go",
			old: "return exitInterrupted", new: "return 0",
			test: "./internal/cli", run: "WaitingIsSaid|EventsAreFollowed",
		},
		{
			name: "numbers may be negative", file: "internal/cli/cli.go",
			old: "WithHyphenPrefixedParameters(true)", new: "WithHyphenPrefixedParameters(false)",
			test: "./internal/cli", run: "TestSend",
		},
		{
			name: "a text is one argument", file: "internal/cli/send.go",
			old: "case len(words) > 1:", new: "case len(words) > 100:",
			test: "./internal/cli", run: "SendRefuses",
		},
		{
			name: "a dash is standard input", file: "internal/cli/send.go",
			old: `case words[0] != "-":`, new: "case true:",
			test: "./internal/cli", run: "TestSend",
		},
		{
			name: "instances have names", file: "internal/cli/target/target.go",
			old: `case instance.Name == nameOrID || nameOrID == "":`, new: `case nameOrID == "":`,
			test: "./internal/cli", run: "InstancesByName",
		},
		{
			name: "exit codes distinguish later from never", file: "internal/cli/failure.go",
			old: "if refusal.Temporary() {", new: "if refusal == nil {",
			test: "./internal/cli", run: "FailuresAreExplained",
		},
		{
			name: "a pipe gets the identifier alone", file: "internal/cli/send.go",
			old: "if !t.OutIsTTY && !t.JSON {", new: "if false {",
			test: "./internal/cli", run: "TestSend",
		},
		{
			name: "a file is looked at before it is sent", file: "internal/cli/file.go",
			old: "case info.Size() > f.MaxMedia:", new: "case false:",
			test: "./internal/cli", run: "SendRefuses",
		},
		{
			name: "uploads show how far they are", file: "internal/cli/progress/progress.go",
			old: "request.ContentLength > largeBody", new: "false",
			test: "./cmd/recado", run: "ResultsOnATerminal",
		},
		{
			name: "an address can be opened", file: "internal/cli/serve.go",
			old: "base := clickable(c.Listen, bound)", new: "base := bound",
			test: "./internal/cli", run: "Serve",
		},
		{
			name: "keys may expire in days", file: "internal/cli/data/keys.go",
			old: `CutSuffix(string(text), "d")`, new: `CutSuffix(string(text), "D")`,
			test: "./internal/cli/data", run: "KeysCreate",
		},
		{
			name: "the banner sends JSON", file: "internal/cli/dev.go",
			old: "-H 'content-type: application/json' ", new: "",
			test: "./cmd/recado", run: "DevPrintsALineThatSends",
		},
		{
			name: "dev is quiet before its banner", file: "internal/cli/dev.go",
			old: "t.Level.Set(max(slog.LevelWarn, t.Log.Least()))", new: "t.Level.Set(t.Log.Least())",
			test: "./cmd/recado", run: "DevOnATerminal",
		},
	}
}
