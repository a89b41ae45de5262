package main

// mediaFaults break the bounds of files.
func mediaFaults() []fault {
	return []fault{
		{
			name: "pictures count by their memory", file: "internal/media/probe/picture.go",
			old: "		return 8\n", new: "		return 4\n",
			test: "./internal/media", run: "WeightOfPictures",
		},
		{
			name: "scans are counted", file: "internal/media/decode.go",
			old: "p.Scans > probe.MaxScans", new: "false",
			test: "./internal/media", run: "ProgressivePictures",
		},
		{
			name: "decoding has a deadline", file: "internal/media/decode.go",
			old: "if err := r.stopped(); err != nil {", new: "if err := r.stopped(); err != nil && false {",
			test: "./internal/media", run: "DecodingEnds",
		},
		{
			name: "large pictures leave room for small ones", file: "internal/media/decode.go",
			old: "room = d.small", new: "_ = d.small",
			test: "./internal/media", run: "LargePictures",
		},
		{
			name: "public metadata addresses are denied", file: "internal/outbound/guard.go",
			old: "168.63.129.16/32", new: "168.63.129.17/32",
			test: "./internal/outbound", run: "Guard",
		},
		{
			name: "the operator's prefixes are denied", file: "internal/webhook/service.go",
			old: "outbound.NewGuard(config.Denied)", new: "outbound.NewGuard(nil)",
			test: "./internal/webhook", run: "DeniedAddresses",
		},
		{
			name: "a file is on disk before it is named", file: "internal/media/folder/folder.go",
			old: "err = s.sync(file)", new: "err = nil",
			test: "./internal/media/folder", run: "BlobIsOnDisk",
		},
		{
			name: "a broken file is replaced", file: "internal/media/folder/folder.go",
			old: "found.Size != about.Size() || ", new: "",
			test: "./internal/media/folder", run: "BrokenBlob",
		},
		{
			name: "old files go", file: "internal/media/space.go",
			old: "if !file.Created.Before(before) {", new: "if true {",
			test: "./internal/media", run: "OldBlobsGo",
		},
		{
			name: "files have a quota", file: "internal/media/space.go",
			old: "here > limit", new: "here < 0",
			test: "./internal/media/folder", run: "Folder",
		},
		{
			name: "a bucket that is gone is no file that is gone", file: "internal/media/bucket/bucket.go",
			old: "bucketErr != nil || !found", new: "bucketErr != nil && !found",
			test: "./internal/media/bucket", run: "MissingBucket",
		},
		{
			name: "a read goes on where it was", file: "internal/media/bucket/reader.go",
			old: "if r.at > 0 {", new: "if r.at < 0 {",
			test: "./internal/media/bucket", run: "BrokenConnection",
		},
		{
			name: "a store that is away is no failure of ours", file: "internal/media/bucket/bucket.go",
			old: "gateway.Errorf(gateway.Unavailable,", new: "gateway.Errorf(gateway.NotFound,",
			test: "./internal/server", run: "StoreOfFilesThatIsAway",
		},
		{
			name: "credentials don't belong into an address", file: "internal/media/place/bucket.go",
			old: "if address.User != nil {", new: "if false {",
			test: "./internal/media/place", run: "PlaceThatIsWrong",
		},
		{
			name: "a place of files has one owner", file: "internal/media/place/owner.go",
			old: "case found != owner:", new: "case found == \"\":",
			test: "./internal/media/place", run: "OneOwner",
		},
		{
			name: "our own pages get files from us", file: "internal/media/link.go",
			old: `query.Has("here")`, new: `query.Has("there")`,
			test: "./internal/api", run: "DownloadFromElsewhere",
		},
		{
			name: "a start leaves the queue of others", file: "internal/messaging/queued.go",
			old: "now.Sub(made) < queuedFileGrace {", new: "now.Sub(made) < 0 {",
			test: "./internal/server", run: "StartLeavesTheQueue",
		},
		{
			name: "room is not made of what another process has just stored", file: "internal/media/space.go",
			old: "b.config.Now().Sub(file.Created) < justStored", new: "file.Key == \"\"",
			test: "./internal/media/folder", run: "SharedFolder",
		},
		{
			name: "what other processes store counts", file: "internal/media/space.go",
			old: "if b.config.Shared || before.IsZero() {", new: "if !b.config.Shared {",
			test: "./internal/media", run: "ProcessesShare",
		},
		{
			name: "the half of a file that another process writes stays", file: "internal/media/folder/folder.go",
			old: "left = left.Add(-leftAfter)", new: "left = left.Add(leftAfter)",
			test: "./internal/media/folder", run: "HalfWritten",
		},
		{
			name: "a file is fetched once", file: "internal/media/blob.go",
			old: "release, err := b.busy.Lock(ctx, key)", new: "release, err := func() {}, error(nil)",
			test: "./internal/media/folder", run: "Folder/fetches",
		},
		{
			name: "temporary files are swept", file: "internal/server/open.go",
			old: "os.RemoveAll(s.tempDir)", new: `os.RemoveAll(s.tempDir+"x")`,
			test: "./internal/server", run: "TemporaryFiles",
		},
		{
			name: "a file is no larger than the limit", file: "internal/media/blob.go",
			old: "limit > 0 && size > limit {", new: "limit > 0 && size < 0 {",
			test: "./internal/server", run: "FileThatIsLarger",
		},
	}
}
