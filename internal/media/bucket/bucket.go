// Package bucket keeps files in a bucket of an S3-compatible store, which several processes
// may share. Every request is bounded in time and tried again by the library; a store that
// stays away is an error that says so. It knows neither quotas nor ages; media.Blobs does.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

const (
	// defaultPatience is Config.Patience without a setting.
	defaultPatience = 10 * time.Second
	// dialTimeout bounds a connection, answerTimeout the wait for an answer to a request
	// that was sent whole.
	dialTimeout   = 3 * time.Second
	answerTimeout = 30 * time.Second
	// slowest is how many bytes a second an upload must reach.
	slowest = 128 << 10
	// tries is how often a request is made before it has failed.
	tries = 4
	// idleConnections are kept for each node and store.
	idleConnections = 16
	// presigned is how long a presigned URL works: long enough for clocks that differ a
	// little, and short because nothing can take it back.
	presigned = 5 * time.Minute
	// retryAfter is when a client that met a store which is away may try again.
	retryAfter = 10 * time.Second
)

// Config says where a bucket is. Bucket is required.
type Config struct {
	// Endpoint is the host, or host:port, of the store; "" is Amazon's. Plain says that
	// it speaks HTTP without TLS.
	Endpoint string
	Plain    bool
	// Region is the bucket's; "" has it looked up.
	Region string
	Bucket string
	// PathStyle puts the bucket in the path of URLs, rather than in the host's name. If it
	// is nil, the library decides by the host.
	PathStyle *bool
	// Served says that clients can't reach the store: no URLs are presigned.
	Served bool

	// Patience is how long a request that carries no content may take, with all its tries;
	// and how long a transfer may stand still. 0 means 10 seconds.
	Patience time.Duration
	TempDir  string       // the folder for files in the making; empty means the system's
	Logger   *slog.Logger // nil: nothing is logged
}

// Bucket is a connection to a bucket. It is safe for concurrent use.
type Bucket struct {
	config    Config
	core      *minio.Core
	transport *http.Transport
}

// Connect connects to a bucket with the credentials that Amazon's tools would take: those
// of the environment, of the file of credentials, or of the role of the machine. It fails
// if there are none, if the bucket does not exist, or if it is refused to us. A store that
// can't be reached is logged: it may come back.
func Connect(ctx context.Context, config Config) (*Bucket, error) {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Patience == 0 {
		config.Patience = defaultPatience
	}
	b := &Bucket{config: config, transport: newTransport()}
	found, err := b.credentials(ctx)
	if err != nil {
		return nil, err
	}
	host := config.Endpoint
	if host == "" {
		host = "s3.amazonaws.com"
	}
	options := &minio.Options{
		Creds: found, Secure: !config.Plain, Transport: b.transport, Region: config.Region, MaxRetries: tries,
	}
	if config.PathStyle != nil {
		options.BucketLookup = minio.BucketLookupDNS
		if *config.PathStyle {
			options.BucketLookup = minio.BucketLookupPath
		}
	}
	if b.core, err = minio.NewCore(host, options); err != nil {
		return nil, fmt.Errorf("media: connect to the store of files: %w", err)
	}
	if err := b.check(ctx); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: answerTimeout, ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost: idleConnections, IdleConnTimeout: time.Minute,
		DisableCompression: true, // a file is as it was stored
	}
}

// credentials looks for credentials, which may be on the machine's metadata server.
func (b *Bucket) credentials(ctx context.Context) (*credentials.Credentials, error) {
	client := &http.Client{Transport: b.transport, Timeout: b.config.Patience}
	found := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: client},
	})
	ctx, cancel := context.WithTimeout(ctx, b.config.Patience)
	defer cancel()
	value, err := found.GetWithContext(&credentials.CredContext{Client: client, Context: ctx})
	if err != nil || value.SignerType == credentials.SignatureAnonymous {
		return nil, errors.New("media: there are no credentials for the bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
			"name a file in AWS_SHARED_CREDENTIALS_FILE, or give the machine a role")
	}
	return found, nil
}

// check reports whether the bucket is there for us.
func (b *Bucket) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.config.Patience)
	defer cancel()
	found, err := b.core.BucketExists(ctx, b.config.Bucket)
	refusal := minio.ToErrorResponse(err)
	switch {
	case err == nil && !found:
		return fmt.Errorf("media: the bucket %s does not exist", b.config.Bucket)
	case err == nil:
		return nil
	case refusal.StatusCode >= http.StatusMultipleChoices && refusal.StatusCode < http.StatusInternalServerError:
		return fmt.Errorf("media: the bucket %s is refused to us: check the credentials, the region and the bucket's policy: %w", b.config.Bucket, err)
	}
	b.config.Logger.WarnContext(ctx, "the store of files can't be reached: text goes on, files are refused until it is back",
		slog.String("bucket", b.config.Bucket), slog.Any("error", err))
	return nil
}

// Close ends the connections. The stores of the bucket must be closed before.
func (b *Bucket) Close() { b.transport.CloseIdleConnections() }

// Store is the part of a bucket whose names begin with a prefix. It is a media.Store.
type Store struct {
	bucket *Bucket
	prefix string // "" or with a slash at its end
	close  func() // may be nil
}

var _ media.Store = (*Store)(nil)

// Store returns a part of the bucket. prefix is "", or ends with a slash. closed, if it is
// not nil, is called when the store is closed.
func (b *Bucket) Store(prefix string, closed func()) *Store {
	return &Store{bucket: b, prefix: prefix, close: closed}
}

// Close ends the use of the store. Blobs that are open can be read to their end.
func (s *Store) Close() error {
	if s.close != nil {
		s.close()
	}
	return nil
}

// nameHeader has the name of a file, escaped: metadata are in ASCII.
const nameHeader = "Recado-Name"

// Write stores a file (media.Store). It is written to a temporary file first, so that it is
// measured before it is stored, and sent again if sending fails. It is not held in memory.
func (s *Store) Write(ctx context.Context, key string, meta media.BlobMeta, fill func(file *os.File) error) (size int64, err error) {
	file, err := os.CreateTemp(s.bucket.config.TempDir, "recado-store-*")
	if err != nil {
		return 0, fmt.Errorf("media: make temporary file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	if err := fill(file); err != nil {
		return 0, err
	}
	about, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("media: measure file: %w", err)
	}
	size = about.Size()
	limit := s.bucket.config.Patience + answerTimeout + time.Duration(size/slowest)*time.Second
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// It can be read from anywhere, so large files go in parts that are not held in memory.
	content := io.NewSectionReader(file, 0, size)
	_, err = s.bucket.core.Client.PutObject(bounded, s.bucket.config.Bucket, s.prefix+key, content, size, minio.PutObjectOptions{
		ContentType:  meta.MimeType,
		UserMetadata: map[string]string{nameHeader: url.PathEscape(meta.FileName)},
	})
	if err != nil {
		return 0, failed(ctx, "store a file", err)
	}
	return size, nil
}

// Stat describes a file (media.Store).
func (s *Store) Stat(ctx context.Context, key string) (media.BlobMeta, error) {
	bounded, cancel := context.WithTimeout(ctx, s.bucket.config.Patience)
	defer cancel()
	about, err := s.bucket.core.StatObject(bounded, s.bucket.config.Bucket, s.prefix+key, minio.StatObjectOptions{})
	if isGone(err) {
		// The answer is the same if the whole bucket is gone, and then nothing is certain.
		if found, bucketErr := s.bucket.core.BucketExists(bounded, s.bucket.config.Bucket); bucketErr != nil || !found {
			return media.BlobMeta{}, failed(ctx, "look for the bucket", errors.Join(err, bucketErr))
		}
		return media.BlobMeta{}, media.NoBlob()
	}
	if err != nil {
		return media.BlobMeta{}, failed(ctx, "look for a file", err)
	}
	name, err := url.PathUnescape(about.UserMetadata[nameHeader])
	if err != nil {
		name = "" // somebody else wrote it
	}
	return media.BlobMeta{MimeType: about.ContentType, FileName: name, Size: about.Size, Created: about.LastModified}, nil
}

// Get opens a file (media.Store). Nothing is fetched before it is read.
func (s *Store) Get(ctx context.Context, key string) (*media.Blob, error) {
	meta, err := s.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	blob := &media.Blob{BlobMeta: meta, ReadSeekCloser: &reader{ctx: ctx, bucket: s.bucket, name: s.prefix + key, size: meta.Size}}
	if !s.bucket.config.Served {
		blob.Presign = func(ctx context.Context, as media.Answer) (string, error) { return s.presign(ctx, key, as) }
	}
	return blob, nil
}

func (s *Store) presign(ctx context.Context, key string, as media.Answer) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, s.bucket.config.Patience)
	defer cancel()
	signed, err := s.bucket.core.PresignedGetObject(bounded, s.bucket.config.Bucket, s.prefix+key, presigned, url.Values{
		"response-content-type":        {as.ContentType},
		"response-content-disposition": {as.ContentDisposition},
		"response-cache-control":       {as.CacheControl},
	})
	if err != nil {
		return "", failed(ctx, "presign a URL", err)
	}
	return signed.String(), nil
}

// isGone reports whether an answer says that there is no such file, or no such bucket.
func isGone(err error) bool { return minio.ToErrorResponse(err).Code == minio.NoSuchKey }

// failed makes the error of a request that failed: Unavailable, which tells the client to
// come again, unless the caller has gone.
func failed(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("media: %s: %w", doing, context.Cause(ctx))
	}
	away := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the store of files can't be used at the moment")
	away.RetryAfter, away.Cause = retryAfter, err
	return fmt.Errorf("media: %s: %w", doing, away)
}
