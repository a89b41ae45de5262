package main

// orderFaults change the order in which a request is checked (design note on the API,
// "Status codes and error codes"): key, body size, instance, scope, partner, contents.
func orderFaults() []fault {
	const gate, tests, run = "internal/api/contract/gate.go", "./internal/api", "Refus|Scope|Partner|Large"
	return []fault{
		{
			name: "a key is looked at before the size of a body", file: gate, test: tests, run: run,
			old: "	err := a.admitKey(ctx, x)\n	if err != nil {\n",
			new: "	err := a.admitKey(ctx, x)\n	if x.request.ContentLength > 1<<20 {\n" +
				"		return gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, \"too large\")\n	}\n	if err != nil {\n",
		},
		{
			name: "a body is looked at before the instance", file: gate, test: tests, run: run,
			old: "	if op.Body != nil {\n",
			new: "	if op.ofInstance() {\n		if err := a.findInstance(ctx, x); err != nil {\n			return err\n		}\n	}\n	if op.Body != nil {\n",
		},
		{
			name: "an instance exists before a scope is looked at", file: gate, test: tests, run: run,
			old: "	if x.instance, err = a.config.FindInstance(ctx, id); err != nil {\n		return err\n	}\n",
			new: "	if x.instance, err = a.config.FindInstance(ctx, id); err != nil {\n" +
				"		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, \"no\")\n	}\n",
		},
		{
			name: "the instance is in the scope of the key", file: gate, test: tests, run: run,
			old: "	if !x.key.InScope(x.instance) {", new: "	if false {",
		},
		{
			name: "an instance is looked for before a partner key is asked for", file: gate, test: tests, run: run,
			old: "	if op.ofInstance() {\n",
			new: "	if op.Audience == Partners && !x.key.Partner {\n" +
				"		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, \"no\")\n	}\n	if op.ofInstance() {\n",
		},
		{
			name: "only partners use the partner interface", file: gate, test: tests, run: run,
			old: "	if op.Audience == Partners && !x.key.Partner {", new: "	if false {",
		},
	}
}
