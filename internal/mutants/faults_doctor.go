package main

// doctorFaults break what the doctor promises: that it changes nothing, shows no secrets, and
// misses nothing that is wrong.
func doctorFaults() []fault {
	return []fault{
		{
			name: "the doctor leaves no files beside a database", file: "internal/sqlite/reader.go",
			old: `query.Set("immutable", "1")`, new: `query.Set("immutable", "0")`,
			test: "./internal/store/beside", run: "NothingIsLeft",
		},
		{
			name: "the doctor leaves plain secrets plain", file: "internal/store/beside/beside.go",
			old: "master = nil // which would begin to seal", new: "_ = master",
			test: "./internal/store/beside", run: "NothingIsLeft",
		},
		{
			name: "the doctor can't write to PostgreSQL", file: "internal/postgres/reader.go",
			old: "SET default_transaction_read_only = on; ", new: "",
			test: "./internal/store/beside", run: "BesideAStore/PostgreSQL",
		},
		{
			name: "the doctor can't write to SQLite", file: "internal/sqlite/reader.go",
			old:  `"mode": {"ro"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeoutMs), "query_only(1)"}`,
			new:  `"mode": {"rw"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeoutMs)}`,
			test: "./internal/store/beside", run: "BesideAStore/SQLite",
		},
		{
			name: "the doctor shows no password of a proxy", file: "internal/doctor/platform.go",
			old: "tried[i].Proxy.Masked()", new: "string(tried[i].Proxy)",
			test: "./internal/doctor", run: "Proxies",
		},
		{
			name: "the doctor shows no URL of an endpoint", file: "internal/doctor/webhooks.go",
			old: "return parsed.Host", new: "return address",
			test: "./internal/doctor", run: "Webhooks",
		},
		{
			name: "the doctor tells another gateway from this one", file: "internal/doctor/network.go",
			old: "return foreign", new: "return same",
			test: "./internal/doctor", run: "PublicAddress",
		},
		{
			name: "the doctor waits for no check that hangs", file: "internal/doctor/doctor.go",
			old: "case <-late.C:\n\t\t\t\thangs = true", new: "case <-ctx.Done():\n\t\t\t\tcontinue",
			test: "./internal/doctor", run: "HangingCheck",
		},
		{
			name: "the doctor follows the presigned URL", file: "internal/media/place/probe.go",
			old: `if response.StatusCode != http.StatusOK || string(read) != content {`, new: `if string(read) == "" && content == "" {`,
			test: "./internal/doctor", run: "Files",
		},
		{
			name: "the doctor fails if something is wrong", file: "internal/cli/doctor.go",
			old: "if wrong > 0 {", new: "if wrong < 0 {",
			test: "./cmd/recado", run: "DoctorBesideAGateway",
		},
		{
			name: "the doctor finds a server that does not wait for its disk", file: "internal/doctor/database.go",
			old: "case value == one.bad:", new: `case value == "":`,
			test: "./internal/doctor", run: "PostgresServer",
		},
	}
}
