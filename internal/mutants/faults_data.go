package main

// dataFaults break what docs/operate.md promises of the data: that they are sealed, moved,
// kept and brought back whole.
func dataFaults() []fault {
	return []fault{
		{
			name: "a backup has the files of a bucket", file: "internal/archive/files.go",
			old: "if w.config.Files == nil && !w.config.WithoutFiles {", new: "if !w.config.WithoutFiles {",
			test: archiveTests, run: "FilesOfABucket",
		},
		{
			name: "a backup is not without files by mistake", file: "internal/archive/archive.go",
			old: `placeSecret = "files"`, new: `placeSecret = "nothing"`,
			test: archiveTests, run: "FilesThatNobodyNamed",
		},
		{
			name: "files that a backup leaves out are missed", file: "internal/archive/files.go",
			old: "		if !there {\n			r.report.Missing++\n		}\n", new: "		_ = there\n",
			test: archiveTests, run: "FilesLeftOut",
		},
		{
			name: "a restored file in a bucket is whole", file: "internal/archive/files.go",
			old: "if _, err := from.Seek(0, io.SeekStart); err != nil {", new: "if _, err := from.Seek(1, io.SeekStart); err != nil {",
			test: archiveTests, run: "FilesOfABucket",
		},
		{
			name: "an older look at the data keys replaces no newer one", file: "internal/store/vault/vault.go",
			old: "	v.loading.Lock()\n	defer v.loading.Unlock()\n", new: "",
			test: storeTests, run: "NewDataKeyStays",
		},
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
			name: "a gateway can open every data key", file: "internal/store/vault/generation.go",
			old: "if !alone && slices", new: "if alone && slices",
			test: storeTests, run: "SecretsAreSealed",
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
			old: "if err := os.Rename(from.Path, from.Path+store.MovedSuffix); err != nil {", new: "if err := ctx.Err(); err != nil {",
			test: copyingTests, run: "TestMove$",
		},
		{
			name: "a move fills only an empty database", file: "internal/copying/move.go",
			old:  "return FillTable(ctx, target, name, columns, source.Rows(ctx, name, columns))\n\t}\n",
			new:  "return FillTable(ctx, target, name, columns, source.Rows(ctx, name, columns))\n\t}\n\tif !empty { return Sum{}, nil }\n",
			test: copyingTests, run: "TestMove$",
		},
		{
			name: "a restored device begins anew", file: "internal/archive/restore.go",
			old: "return keys.KeptOverRestore(name)", new: `return name != "" || keys.KeptOverRestore(name)`,
			test: serverTests, run: "RestoredDevicesConverse",
		},
		{
			name: "the ids of one-time keys are not used again", file: "internal/whatsapp/keys/pre_key.go",
			old: "return 1 + mathrand.Uint32N(firstPreKeys)", new: "return 1 + mathrand.Uint32N(1)",
			test: serverTests, run: "RestoredDevicesConverse",
		},
		{
			name: "a backup is compared to its last byte", file: "internal/archive/restore.go",
			old: "if _, err := io.Copy(io.Discard, r.packed); err != nil {", new: "if err := r.ctx.Err(); err != nil {",
			test: archiveTests, run: "DamagedBackup",
		},
		{
			name: "a backup is of one moment", file: "internal/copying/postgres.go",
			old: "pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}", new: "pgx.TxOptions{AccessMode: pgx.ReadOnly}",
			test: copyingTests, run: "SourceIsOfOneMoment",
		},
		{
			name: "a damaged backup is found before it is restored", file: "internal/archive/restore.go",
			old: "if _, err := Verify(ctx, path); err != nil {", new: "if err := ctx.Err(); err != nil {",
			test: archiveTests, run: "DamagedBackup",
		},
	}
}
