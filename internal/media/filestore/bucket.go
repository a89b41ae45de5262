// How an address names a bucket.

package filestore

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/bucket"
)

// How names of buckets and prefixes look; how long they are is counted, which takes a pattern much memory.
var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]+[a-z0-9]$`)
	prefixName = regexp.MustCompile(`^[A-Za-z0-9._/-]*$`)
)

const maxBucketName, maxPrefix = 63, 200

// parseBucket reads s3://bucket/prefix?endpoint=…&region=…&path-style=…&links=….
func parseBucket(address *url.URL) (Location, error) {
	if address.User != nil {
		return Location{}, errors.New("must not have credentials: they belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a file, or the role of the machine")
	}
	if len(address.Host) > maxBucketName || !bucketName.MatchString(address.Host) || address.Fragment != "" {
		return Location{}, errors.New("must name a bucket, as in s3://bucket/prefix")
	}
	prefix := strings.Trim(address.Path, "/")
	if len(prefix) > maxPrefix || !prefixName.MatchString(prefix) || prefix != "" && path.Clean("/"+prefix) != "/"+prefix {
		return Location{}, errors.New("must have a prefix of letters, digits, dots, dashes, underscores and slashes")
	}
	if prefix != "" {
		prefix += "/"
	}
	place := Location{prefix: prefix, bucket: bucket.Config{Bucket: address.Host}}
	query, err := url.ParseQuery(address.RawQuery)
	if err != nil {
		return Location{}, errors.New("has a malformed query")
	}
	for name, values := range query {
		if len(values) != 1 || values[0] == "" {
			return Location{}, errors.New("must have each parameter once, with a value")
		}
		if err := place.set(name, values[0]); err != nil {
			return Location{}, err
		}
	}
	if place.bucket.Region == "" {
		place.bucket.Region = os.Getenv("AWS_REGION")
	}
	if place.bucket.Region == "" && place.bucket.Endpoint != "" {
		place.bucket.Region = "us-east-1" // what stores take that have no regions
	}
	return place, nil
}

func (p *Location) set(name, value string) error {
	switch name {
	case "endpoint":
		endpoint, err := url.Parse(value)
		if err != nil || endpoint.Scheme != "https" && endpoint.Scheme != "http" || endpoint.Host == "" || endpoint.User != nil ||
			strings.Trim(endpoint.Path, "/") != "" || endpoint.RawQuery != "" || endpoint.Fragment != "" {
			return errors.New("needs an endpoint of https:// or http:// and a host, and nothing else")
		}
		p.bucket.Endpoint, p.bucket.Plain = endpoint.Host, endpoint.Scheme == "http"
	case "region":
		p.bucket.Region = value
	case "path-style":
		style, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("needs true or false for path-style")
		}
		p.bucket.PathStyle = &style
	case "links":
		if !slices.Contains([]string{"presigned", "served"}, value) {
			return errors.New("needs presigned or served for links")
		}
		p.bucket.Served = value == "served"
	default:
		// Its name is not repeated: it may be a secret.
		return errors.New("has a parameter that is unknown; known are endpoint, links, path-style and region")
	}
	return nil
}

func (p Location) connect(ctx context.Context, config Config) (*bucket.Bucket, error) {
	settings := p.bucket
	settings.TempDir, settings.Logger = config.TempDir, config.Logger
	return bucket.Connect(ctx, settings)
}

// openBucket opens the stores of a bucket. One that can't be reached now is claimed when it is
// back.
func (p Location) openBucket(ctx context.Context, config Config) (Stores, error) {
	connected, err := p.connect(ctx, config)
	if err != nil {
		return Stores{}, err
	}
	stores := Stores{
		Fetched: connected.Store(p.prefix+fetched+"/", nil),
		Queued:  connected.Store(p.prefix+queued+"/", connected.Close),
	}
	if config.Owner == "" {
		return stores, nil
	}
	at := homeBucket(connected.Store(p.prefix, nil))
	err = claim(ctx, at, config)
	switch {
	case gateway.KindOf(err) == gateway.Unavailable:
		later := &awaited{at: at, config: config}
		stores.Fetched, stores.Queued = later.attend(stores.Fetched), later.attend(stores.Queued)
		return stores, nil
	case err != nil:
		connected.Close()
		return Stores{}, err
	}
	stores.Owned = true
	return stores, nil
}
