// Faults in what the program shows of itself to those who run it.

package main

const (
	adminTests   = "./internal/admin"
	metricsTests = "./internal/metrics"
	watchTests   = "./internal/watchtest"
)

func watchFaults() []fault {
	return []fault{
		{
			name: "a program that stops says at once that it is not ready", file: "internal/server/watch.go",
			old: "	s.draining.Store(true)\n", new: "",
			test: watchTests, run: "ReadinessDrainsFirst",
		},
		{
			name: "a program that stops still answers for a while", file: "internal/server/watch.go",
			old: "	if s.config.DrainWait <= 0 {", new: "	if true {",
			test: watchTests, run: "ReadinessDrainsFirst",
		},
		{
			name: "web pages are kept from the admin address", file: "internal/admin/admin.go",
			old: `|| local && !isLocal(r.Host)`, new: `|| local && false`,
			test: adminTests, run: "WebPages",
		},
		{
			name: "foreign pages are kept from the admin address", file: "internal/admin/admin.go",
			old: `return site != "" && site != "none" && site != "same-origin"`, new: `return site == "elsewhere"`,
			test: adminTests, run: "WebPages",
		},
		{
			name: "profiles show no command line", file: "internal/admin/admin.go",
			old: "	mux.HandleFunc(\"GET /debug/pprof/cmdline\", http.NotFound)\n", new: "	mux.HandleFunc(\"GET /debug/pprof/cmdline\", pprof.Cmdline)\n",
			test: adminTests, run: "Pages",
		},
		{
			name: "methods that clients make up are no labels", file: "internal/metrics/requests.go",
			old: "	return \"other\"\n", new: "	return method\n",
			test: metricsTests, run: "SeriesAreBounded",
		},
		{
			name: "a scrape does not always ask the database", file: "internal/metrics/sample.go",
			old: "now.Sub(s.taken) >= s.config.SampleAge", new: "now.Sub(s.taken) >= 0",
			test: metricsTests, run: "SamplesAreShared",
		},
		{
			name: "figures that are not known are left out", file: "internal/metrics/sample.go",
			old: "	if !sample.Counted {\n		return // no figures are better than wrong ones\n	}\n", new: "",
			test: metricsTests, run: "NoFigures",
		},
		{
			name: "an event that is given up is counted", file: "internal/webhook/flush.go",
			old: "			f.service.watcher.GaveUp(n)\n", new: "			_ = n\n",
			test: watchTests, run: "AlertsFire",
		},
		{
			name: "what webhooks have to deliver is counted", file: "internal/store/census/census.go",
			old: "CASE WHEN created_at IS NULL THEN cursor ELSE", new: "CASE WHEN created_at IS NOT NULL THEN cursor ELSE",
			test: storeTests, run: "SQLite/census",
		},
		{
			name: "a message that is overdue in the queue is seen", file: "internal/messaging/queue/view.go",
			old: "h.until.After(now) && h.reason != ReasonRetry", new: "h.until.After(now)",
			test: watchTests, run: "AlertsFire",
		},
		{
			name: "a trace reaches the receipt", file: "internal/messaging/send.go",
			old: "	s.config.Tracer.Remember(ctx, traceKey(message.InstanceID, message.PlatformID))\n", new: "",
			test: watchTests, run: "Traces$",
		},
		{
			name: "a trace reaches the delivery", file: "internal/store/event.go",
			old: "				r.appended[i].Trace = cause\n", new: "				_, _ = i, cause\n",
			test: watchTests, run: "Traces$",
		},
		{
			name: "a trace goes through the queue", file: "internal/messaging/queued.go",
			old: "	s.config.Tracer.Remember(ctx, message.ID)\n", new: "",
			test: watchTests, run: "Traces$",
		},
		{
			name: "spans hold no texts of errors", file: "internal/trace/trace.go",
			old: "		s.span.SetStatus(codes.Error, code)\n", new: "		s.span.SetStatus(codes.Error, err.Error()+code)\n",
			test: "./internal/trace", run: "NoTexts",
		},
		{
			name: "endpoints get the trace", file: "internal/webhook/transport.go",
			old: "	trace.Inject(ctx, header)\n", new: "	_ = trace.Inject\n",
			test: watchTests, run: "Traces$",
		},
	}
}
