// Signed download links to fetched files.

package media

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// LinkPath is how the path of every download link begins.
const LinkPath = "/media/"

// MinLinkSecret is how many bytes the secret of Links must have at least.
const MinLinkSecret = 32

// Links signs download links to the files of a blob store and opens the files that
// they lead to. A link needs no API key. It works until it expires, and stops working
// if any character is changed. Links is safe for concurrent use.
type Links struct {
	config LinksConfig
}

// LinksConfig holds what Links needs.
type LinksConfig struct {
	Blobs *Blobs
	// Uploads has the files whose keys begin with UploadFolder; nil: there are none.
	Uploads *Blobs
	// Secret signs the links: whoever has it can make links that work. It has at
	// least MinLinkSecret bytes.
	Secret []byte
	Now    func() time.Time // nil: the wall clock
}

// NewLinks makes a Links. It fails if the secret is too short.
func NewLinks(config LinksConfig) (*Links, error) {
	if len(config.Secret) < MinLinkSecret {
		return nil, fmt.Errorf("media: the secret of links has %d bytes, fewer than %d", len(config.Secret), MinLinkSecret)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Links{config: config}, nil
}

// URL makes the link to the file under a key; clients save it as fileName. base is the
// address of this program as the client sees it, without a slash at its end. The link
// works for its lifetime, and less than a second longer. A link without a base is for our
// own pages, which may show nothing of another host: its file is served from here, wherever
// it is kept.
func (l *Links) URL(base, key, fileName string, lifetime time.Duration) string {
	query := linkQuery(l.config.Now().Add(lifetime).Unix(), fileName)
	if base == "" {
		query += hereParam
	}
	return base + LinkPath + key + "?" + query + signatureParam + l.sign(key, query)
}

// LazyURL is URL for a file that may not have been fetched yet: whoever opens the link waits
// until it is. Clients save it as it is called where it is kept.
func (l *Links) LazyURL(base, key string, lifetime time.Duration) (link string, expires time.Time) {
	expires = l.config.Now().Add(lifetime).Truncate(time.Second)
	query := linkQuery(expires.Unix(), "") + lazyParam
	return base + LinkPath + key + "?" + query + signatureParam + l.sign(key, query), expires
}

// hereParam is in the links whose file is served from here, lazyParam in those whose file may
// still have to be fetched; signatureParam begins the signature of everything before it.
const (
	hereParam      = "&here=true"
	lazyParam      = "&fetch=true"
	signatureParam = "&signature="
)

// linkQuery writes the part of the query that is signed. Every value has only one
// spelling, so that no character of a link can be changed.
func linkQuery(expires int64, fileName string) string {
	escaped := strings.ReplaceAll(url.QueryEscape(fileName), "+", "%20")
	return "expires=" + strconv.FormatInt(expires, 10) + "&name=" + escaped
}

func (l *Links) sign(key, query string) string {
	mac := hmac.New(sha256.New, l.config.Secret)
	// A key has no line break, so it is clear where the key ends.
	mac.Write([]byte(key + "\n" + query))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Open opens the file that a link leads to; its FileName is the one in the link, if there is
// one. If the link is valid, check is called first and may refuse the key; its error is
// returned. It is told whether it is to fetch a file that is not there.
// The error is Forbidden for a link that is not valid or has expired, and NotFound if
// the file is gone.
func (l *Links) Open(ctx context.Context, target *url.URL, check func(ctx context.Context, key string, fetch bool) error) (*Blob, error) {
	key, query, err := l.verify(target)
	if err != nil {
		return nil, err
	}
	if err := check(ctx, key, query.Has("fetch")); err != nil {
		return nil, err
	}
	blobs := l.config.Blobs
	if folderOf(key) == UploadFolder && l.config.Uploads != nil {
		blobs = l.config.Uploads
	}
	file, err := blobs.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	if name := query.Get("name"); name != "" {
		file.FileName = name
	}
	if query.Has("here") {
		file.Presign = nil
	}
	return file, nil
}

// verify checks a link and returns what it says. Its error is Forbidden.
func (l *Links) verify(target *url.URL) (key string, query url.Values, err error) {
	key, below := strings.CutPrefix(target.EscapedPath(), LinkPath)
	signed, signature, found := strings.Cut(target.RawQuery, signatureParam)
	// The texts are compared, because two texts may decode to the same bytes.
	genuine := subtle.ConstantTimeCompare([]byte(signature), []byte(l.sign(key, signed))) == 1
	if !below || !found || !genuine || !validKey(key) {
		return "", nil, forbidden("the link is not valid")
	}
	query, err = url.ParseQuery(signed)
	if err != nil {
		return "", nil, forbidden("the link is not valid")
	}
	expires, err := strconv.ParseInt(query.Get("expires"), 10, 64)
	if err != nil || l.config.Now().Unix() > expires {
		return "", nil, forbidden("the link has expired")
	}
	return key, query, nil
}

func forbidden(message string) error {
	return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "%s", message)
}
