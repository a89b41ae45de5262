package main

// careFaults let an account do what its limits forbid.
func careFaults() []fault {
	const (
		restrictionFile = "internal/messaging/restriction.go"
		careFile        = "internal/gateway/care.go"
		gatewayTests    = "./internal/gateway"
	)
	return []fault{
		{
			name: "a restriction outlives a restart", file: restrictionFile,
			old: "		instance.Restricted = instance.Restricted.After(report)\n", new: "",
			test: serverTests, run: "RestrictionWithoutEndIsTriedAfterAnHour",
		},
		{
			name: "a restricted account asks the platform for nobody", file: restrictionFile,
			old: "s.config.Now()); restricted {", new: "s.config.Now()); restricted && request.To.Number == \"\" {",
			test: serverTests, run: "RestrictedAccountWritesToNoNewChat/SQLite",
		},
		{
			name: "a restricted account begins no chat", file: restrictionFile,
			old: "	if err != nil || !isNew {\n		return err\n	}\n	refusal", new: "	if err != nil || !isNew || isNew {\n		return err\n	}\n	refusal",
			test: serverTests, run: "RestrictionWithoutEndIsTriedAfterAnHour",
		},
		{
			name: "a message that failed makes no chat known", file: "internal/store/message.go",
			old: " AND (status > 1 OR NOT from_me) ORDER", new: " ORDER",
			test: storeTests, run: "TestSQLite/messages,_new_chat",
		},
		{
			name: "a lift ends a restriction", file: careFile,
			old: "	if report.Lifted {", new: "	if false {",
			test: gatewayTests, run: "TestRestricted",
		},
		{
			name: "a restriction without an end lasts an hour", file: careFile,
			old: "return r.Reported.Add(AssumedRestriction)", new: "return r.Reported",
			test: gatewayTests, run: "TestRestricted",
		},
		{
			name: "checks of numbers keep to their budget", file: "internal/directory/directory.go",
			old: "if err := permit(len(missing)); err != nil {", new: "if err := permit(len(missing)); err != nil && len(missing) > 100 {",
			test: serverTests, run: "NumberChecksHaveABudget/SQLite",
		},
		{
			name: "a budget is for a day too", file: "internal/directory/budget.go",
			old: "{budget.PerDay, day, \"a day\"}", new: "{0, day, \"a day\"}",
			test: "./internal/directory", run: "TestWithin",
		},
		{
			name: "checks in one minute add up", file: "internal/store/registration.go",
			old: "numbers = number_checks.numbers + excluded.numbers", new: "numbers = excluded.numbers",
			test: storeTests, run: "TestSQLite/number_checks",
		},
		{
			name: "a refused check takes nothing", file: "internal/store/registration.go",
			old: "if refused = permit(spent); refused == nil {", new: "if refused = permit(spent); refused == nil || true {",
			test: storeTests, run: "TestSQLite/number_checks",
		},
		{
			name: "who answers is not counted as silent", file: "internal/messaging/unanswered/unanswered.go",
			old: "if person.LastReceived.Before(person.FirstWritten) {", new: "if !person.FirstWritten.IsZero() {",
			test: "./internal/messaging/unanswered", run: "TestCount",
		},
		{
			name: "null turns all of an object off", file: "internal/api/instance.go",
			old: "(in.IsNull(object) || in.IsNull(object+\".\"+field))", new: "in.IsNull(object+\".\"+field)",
			test: "./internal/api", run: "ChangeIsAMergePatch",
		},
		{
			name: "a pace has a bound", file: "internal/instance/care.go",
			old: "*wait.value > gateway.MaxPace", new: "false",
			test: "./internal/dashboard", run: "CareIsShownAndChanged",
		},
	}
}
