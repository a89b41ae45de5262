package main

// sandboxFaults break what the sandbox keeps out, and what it can be made to do.
func sandboxFaults() []fault {
	return []fault{
		{
			name: "an unlinked client may only link", file: "internal/sandbox/session/request.go",
			old: `if c.device == nil && prefix != "get w:p " {`, new: `if c.device == nil && first == "" {`,
			test: "./internal/sandbox", run: "UnlinkedClientMayOnlyLink",
		},
		{
			name: "a passkey signs for its own page", file: "internal/sandbox/passkey/passkey.go",
			old: "at.Hostname() != s.name {", new: "at.Hostname() == \"\" {",
			test: "./internal/sandbox", run: "WrongPasskeyLinksNothing",
		},
		{
			name: "a phone that compares codes waits for its owner", file: "internal/sandbox/link/passkey.go",
			old: "!asked.confirmed && (rule.Compare || !asked.proven) {", new: "!asked.confirmed && rule.Needed && !asked.proven {",
			test: "./internal/sandbox", run: "PasskeyIsConfirmedOnBothSides",
		},
		{
			name: "a code that the phone refuses links nothing", file: "internal/sandbox/link/passkey.go",
			old: "asked.fail(\"somebody said on the phone that the codes are not the same\")", new: "asked.confirmed = true",
			test: "./internal/sandbox", run: "PasskeyIsConfirmedOnBothSides",
		},
		{
			name: "the platform's names reach the protocol alone", file: "internal/sandbox/control/local.go",
			old: " && !isProtocol(r.URL.Path)", new: " && false",
			test: "./internal/sandbox", run: "PlatformNames",
		},
		{
			name: "the platform can fall silent before the websocket", file: "internal/sandbox/session/accept.go",
			old: "f.Silent == fault.SilentConnection || f.Silent == fault.SilentUpgrade", new: "false",
			test: "./internal/sandbox", run: "PlatformFallsSilent",
		},
		{
			name: "the platform can fall silent before the handshake", file: "internal/sandbox/session/accept.go",
			old: "if f.Silent == fault.SilentHandshake {", new: "if false {",
			test: "./internal/sandbox", run: "PlatformFallsSilent",
		},
		{
			name: "the media host can fall silent", file: "internal/sandbox/fault/silence.go",
			old: "if faulty.stalled {", new: "if false {",
			test: "./internal/sandbox", run: "MediaHostFallsSilent",
		},
		{
			name: "histories can stall", file: "internal/sandbox/fault/silence.go",
			old: "after = f.StallHistory", new: "_ = f.StallHistory",
			test: "./internal/sandbox", run: "HistoryFallsSilent",
		},
		{
			name: "raw messages keep their marks", file: "internal/sandbox/phone/outgoing.go",
			old: "attrs[name] = value", new: "attrs[name] = attrs[name]",
			test: "./internal/sandbox", run: "RawMessagesReach",
		},
		{
			name: "a foreign host is refused", file: "internal/sandbox/control/local.go",
			old: "case !l.isOurs(r.Host),", new: "case false,",
			test: "./internal/server", run: "PagesOfTheWeb",
		},
		{
			name: "a websocket of a foreign page is refused", file: "internal/sandbox/control/local.go",
			old: "isWebsocket(r) && !l.mayOpen(r)", new: "false",
			test: "./internal/sandbox", run: "OnlyThisMachine",
		},
		{
			name: "the sandbox fetches nothing private", file: "internal/sandbox/control/media.go",
			old: ", Control: guard.Control", new: "",
			test: "./internal/sandbox/control", run: "FilesAreNotFetched",
		},
		{
			name: "misspelt fields are refused", file: "internal/sandbox/control/request.go",
			old: "\tdecoder.DisallowUnknownFields()\n", new: "",
			test: "./internal/sandbox", run: "ControlCalls",
		},
		{
			name: "numbers that can't be have no account", file: "internal/sandbox/account/directory.go",
			old: "if !phonenumber.CanExist(jid.User) {", new: "if false {",
			test: "./internal/sandbox", run: "NumbersThatCannotBe",
		},
		{
			name: "the guide's files are served", file: "internal/sandbox/sandbox.go",
			old: "case strings.HasPrefix(r.URL.Path, samples.Prefix):", new: "case false:",
			test: "./internal/docstest", run: "TestGuide$",
		},
	}
}
