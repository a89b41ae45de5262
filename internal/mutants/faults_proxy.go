package main

// proxyFaults let connections past an instance's proxy, or let its password out.
func proxyFaults() []fault {
	return []fault{
		{
			name: "nothing goes past a dead proxy", file: "internal/whatsapp/transport/proxy.go",
			old: "\t\treturn nil, unreachable(err)\n\t}\n\tdefer func() {", new: "\t\treturn t.dialer.DialContext(ctx, \"tcp\", address)\n\t}\n\tdefer func() {",
			test: "./internal/whatsapp/transport", run: "DeadProxyIsNeverPassed",
		},
		{
			name: "files go through the proxy", file: "internal/whatsapp/session.go",
			old: "client.SetMediaHTTPClient(s.route.media)", new: "client.SetMediaHTTPClient(s.connector.direct.media)",
			test: "./internal/whatsapp", run: "SessionByProxy",
		},
		{
			name: "the environment's proxy is not for an instance with its own", file: "internal/whatsapp/transport/transport.go",
			old: "\t\tDialContext:         dial,\n", new: "\t\tDialContext:         dial,\n\t\tProxy:               http.ProxyFromEnvironment,\n",
			test: "./internal/whatsapp/transport", run: "DeadProxyIsNeverPassed|ProxyLooksUp",
		},
		{
			name: "a new proxy is used at once", file: "internal/instance/settings.go",
			old: "anew := after.Proxy != before.Proxy || ", new: "anew := ",
			test: "./internal/torture", run: "ProxyOutlivesAKill",
		},
		{
			name: "a proxy is tried before it is set", file: "internal/instance/settings.go",
			old: `if proxy != "" && proxy != current.Proxy {`, new: "if false {",
			test: "./internal/api", run: "ChangeRefusals",
		},
		{
			name: "a proxy is shown without its password", file: "internal/gateway/proxy.go",
			old: `":" + hidden + "@"`, new: `":" + password + "@"`,
			test: "./internal/api", run: "ChangeIsAMergePatch",
		},
		{
			name: "the masked URL keeps the password", file: "internal/instance/settings.go",
			old: "*settings.Proxy == current.Proxy.Masked()", new: "*settings.Proxy == string(current.Proxy)",
			test: "./internal/api", run: "ChangeIsAMergePatch",
		},
		{
			name: "a proxy has no private address", file: "internal/server/open.go",
			old: "platform.ProxyGuard = outbound.NewGuard(s.config.DenyFetch).Control", new: "_ = outbound.NewGuard(s.config.DenyFetch).Control",
			test: "./internal/server", run: "ProxyAtAPrivateAddress",
		},
		{
			name: "unknown settings are refused", file: "internal/api/instance.go",
			old: "err := in.RefuseUnknown()", new: "err := error(nil)",
			test: "./internal/api", run: "ChangeRefusals",
		},
		{
			name: "each session shows its own label", file: "internal/whatsapp/wire/label.go",
			old: "asked.DeviceProps = changed", new: "_ = changed",
			test: "./internal/whatsapp", run: "Labels",
		},
	}
}
