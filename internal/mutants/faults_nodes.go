package main

// nodeFaults let two nodes get into each other's way.
func nodeFaults() []fault {
	return []fault{
		{
			name: "a write stands on a tenure that lasts", file: "internal/store/commit_lane.go",
			old: "	return holdTenures(t.tx, []gateway.Tenure{tenure})", new: "	return nil",
			test: "./internal/store", run: "TakeoversWithoutAWord",
		},
		{
			name: "a tenure is more than a node", file: "internal/store/migrations/0011_nodes.postgres.sql",
			old: "		WHERE t.node = wanted.node AND t.epoch = wanted.epoch FOR SHARE OF t;", new: "		WHERE t.node = wanted.node FOR SHARE OF t;",
			test: "./internal/store", run: "WritesAreFenced",
		},
		{
			name: "what is remembered ends with the tenure", file: "internal/store/instance.go",
			old: "s.instances.Find(keptInstance{id, tenure.Epoch}, read)", new: "s.instances.Find(keptInstance{id, 0}, read)",
			test: "./internal/store", run: "CachesEndWithTheTenure",
		},
		{
			name: "an owner answers under its epoch alone", file: "internal/node/forward/forward.go",
			old: "ok && forwarded && gateway.TenureOf(held).Epoch != ticket.epoch", new: "ok && forwarded && ticket.epoch == 0",
			test: "./internal/node/forward", run: "Misdirected",
		},
		{
			name: "a ticket is signed", file: "internal/node/forward/ticket.go",
			old: "if err != nil || !hmac.Equal(", new: "if err != nil || false && !hmac.Equal(",
			test: "./internal/node/forward", run: "Tickets",
		},
		{
			name: "requests are answered before their instance moves", file: "internal/node/hold.go",
			old: "	case <-answered:\n	case <-timer.C:\n	}", new: "	case <-answered:\n	case <-timer.C:\n	default:\n	}",
			test: "./internal/node", run: "HandingOverWaits",
		},
		{
			name: "a restart of nodes shows clients nothing but 503", file: "internal/instance/instance.go",
			old: "	if instance.Status == gateway.StatusConnecting && s.isMoving(id) {", new: "	if false {",
			test: "./internal/nodetest", run: "NodesComeAndGo",
		},
		{
			name: "what a node may have done before it was gone is not called harmless to repeat", file: "internal/node/forward/route.go",
			old: `return strings.HasPrefix(r.URL.Path, "/api/message/") && r.Header.Get("Idempotency-Key") != ""`, new: "return true",
			test: "./internal/node/forward", run: "LostAnswer",
		},
		{
			name: "nodes that start together make one account", file: "internal/access/access.go",
			old: "if gateway.KindOf(err) != gateway.Conflict {", new: "if true {",
			test: "./internal/access", run: "AccountIsMadeOnce",
		},
		{
			name: "nodes that start together make one owner", file: "internal/user/link.go",
			old: "again != nil || found {", new: "again != nil || found && false {",
			test: "./internal/user", run: "FirstOwnerIsMadeOnce",
		},
	}
}
