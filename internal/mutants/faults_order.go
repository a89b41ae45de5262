package main

// orderFaults change the order in which a request is checked (design note on the API,
// "Status codes and error codes"): key, body size, instance, reach, partner, contents.
func orderFaults() []fault {
	const gate, tests, run = "internal/api/gate.go", "./internal/api", "Order|Refus|Reach|Partner|Large"
	return []fault{
		{
			name: "a key is looked at before the size of a body", file: gate, test: tests, run: run,
			old: "	err := s.admitKey(ctx, x)\n	if err != nil {\n",
			new: "	err := s.admitKey(ctx, x)\n	if x.request.ContentLength > 1<<20 {\n" +
				"		return gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, \"too large\")\n	}\n	if err != nil {\n",
		},
		{
			name: "a body is looked at before the instance", file: gate, test: tests, run: run,
			old: "	if op.body {\n",
			new: "	if op.instance {\n		if err := s.findInstance(ctx, x); err != nil {\n			return err\n		}\n	}\n	if op.body {\n",
		},
		{
			name: "an instance exists before a key reaches it", file: gate, test: tests, run: run,
			old: "	if x.instance, err = s.Instances.Get(ctx, id); err != nil {\n		return err\n	}\n",
			new: "	if x.instance, err = s.Instances.Get(ctx, id); err != nil {\n" +
				"		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, \"no\")\n	}\n",
		},
		{
			name: "a key reaches the instance", file: gate, test: tests, run: run,
			old: "	if !x.key.Reaches(x.instance) {", new: "	if false {",
		},
		{
			name: "an instance is looked for before a partner key is asked for", file: gate, test: tests, run: run,
			old: "	if op.instance {\n",
			new: "	if op.audience == partners && !x.key.Partner {\n" +
				"		return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, \"no\")\n	}\n	if op.instance {\n",
		},
		{
			name: "only partners use the partner interface", file: gate, test: tests, run: run,
			old: "	if op.audience == partners && !x.key.Partner {", new: "	if false {",
		},
	}
}
