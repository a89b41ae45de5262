package main

// dataFaults break what docs/operate.md promises of the data: that they are sealed, moved,
// kept and brought back whole.
func dataFaults() []fault {
	return []fault{
		{
			name: "a sealed value belongs to its row", file: "internal/store/vault/vault.go",
			old:  "return append([]string{p.column.table, p.column.value}, p.row[:len(p.column.row)]...)",
			new:  "return []string{p.column.table, p.column.value}",
			test: storeTests, run: "SealedValuesCannotBeMoved",
		},
		{
			name: "nothing is left of what was plain", file: "internal/store/vault/reseal.go",
			old: "if err := v.config.Database.Compact(ctx); err != nil {", new: "if err := ctx.Err(); err != nil {",
			test: storeTests, run: "SecretsAreSealed",
		},
		{
			name: "a new data key is followed", file: "internal/store/vault/reseal.go",
			old: "current != v.followed {", new: "current < v.followed {",
			test: storeTests, run: "NewDataKeyIsFollowed",
		},
		{
			name: "sealing that was cut off goes on", file: "internal/store/vault/reseal.go",
			old: "if err != nil || state.Generation == 0 || state.Complete {", new: "if err != nil || state.Generation > 0 {",
			test: storeTests, run: "SealingGoesOnAfterACut",
		},
		{
			name: "a gateway seals what was plain", file: "internal/server/server.go",
			old: `worker.Worker{Name: "seals", Run: s.store.Vault().Run},`, new: "",
			test: serverTests, run: "StolenDataLinkNothing",
		},
		{
			name: "every table is copied", file: "internal/copying/copying.go",
			old: `"webhook_dead_letters", `, new: "",
			test: copyingTests, run: "EveryTableIsCopied",
		},
		{
			name: "what is copied is compared", file: "internal/copying/copying.go",
			old: "if err == nil && written != read {", new: "if err == nil && written.Rows > read.Rows {",
			test: copyingTests, run: "FillTableCompares",
		},
		{
			name: "a moved file is not used any more", file: "internal/copying/move.go",
			old: "if err := os.Rename(from.Path, from.Path+movedSuffix); err != nil {", new: "if err := ctx.Err(); err != nil {",
			test: copyingTests, run: "TestMove$",
		},
		{
			name: "a move fills only an empty database", file: "internal/copying/move.go",
			old:  "return FillTable(ctx, target, name, columns, source.Rows(ctx, name, columns))\n\t}\n",
			new:  "return FillTable(ctx, target, name, columns, source.Rows(ctx, name, columns))\n\t}\n\tif !empty { return Sum{}, nil }\n",
			test: copyingTests, run: "TestMove$",
		},
	}
}
