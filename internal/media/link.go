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

// LinkPath is what the path of a link begins with.
const LinkPath = "/media/"

// MinLinkSecret is how many bytes the secret of Links must have at least.
const MinLinkSecret = 32

// Links signs download links to the files of a blob store and opens the files that
// they lead to. A link needs no API key; it works until it expires, and not with
// any character changed. Links is safe for concurrent use.
type Links struct {
	config LinksConfig
}

// LinksConfig holds what Links needs.
type LinksConfig struct {
	Blobs *Blobs
	// Secret signs the links: whoever has it can make links that work. It has at
	// least MinLinkSecret bytes.
	Secret []byte
	Now    func() time.Time // nil: the wall clock
}

// NewLinks makes the links to the files of a store. It fails if the secret is too
// short.
func NewLinks(config LinksConfig) (*Links, error) {
	if len(config.Secret) < MinLinkSecret {
		return nil, fmt.Errorf("media: the secret of links has %d bytes, fewer than %d", len(config.Secret), MinLinkSecret)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Links{config: config}, nil
}

// URL makes the link to the file under a key, which the client is to save under
// the name. base is the address of this program as the client sees it, without
// a slash at its end. The link works for the lifetime, and less than a second longer.
func (l *Links) URL(base, key, fileName string, lifetime time.Duration) string {
	query := linkQuery(l.config.Now().Add(lifetime).Unix(), fileName)
	return base + LinkPath + key + "?" + query + signatureParam + l.sign(key, query)
}

const signatureParam = "&signature="

// linkQuery spells the part of the query that is signed. There is one spelling
// for what it says, so that no character can be changed without effect.
func linkQuery(expires int64, fileName string) string {
	escaped := strings.ReplaceAll(url.QueryEscape(fileName), "+", "%20")
	return "expires=" + strconv.FormatInt(expires, 10) + "&name=" + escaped
}

func (l *Links) sign(key, query string) string {
	mac := hmac.New(sha256.New, l.config.Secret)
	// A key has no line break, so the two can't run into each other.
	mac.Write([]byte(key + "\n" + query))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Open opens the file that a link leads to; its FileName is the one in the link.
// check is asked, for a genuine link only, whether the file under the key may still
// be handed out; its error is returned. The error is Forbidden for a link that is
// not genuine or has expired, and NotFound where the file is gone.
func (l *Links) Open(ctx context.Context, target *url.URL, check func(ctx context.Context, key string) error) (*Blob, error) {
	key, fileName, err := l.verify(target)
	if err != nil {
		return nil, err
	}
	if err := check(ctx, key); err != nil {
		return nil, err
	}
	file, err := l.config.Blobs.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	file.FileName = fileName
	return file, nil
}

// verify reads a link. Its error is Forbidden.
func (l *Links) verify(target *url.URL) (key, fileName string, err error) {
	key, below := strings.CutPrefix(target.EscapedPath(), LinkPath)
	signed, signature, found := strings.Cut(target.RawQuery, signatureParam)
	// Compared as text: two texts may stand for the same bytes.
	genuine := subtle.ConstantTimeCompare([]byte(signature), []byte(l.sign(key, signed))) == 1
	if !below || !found || !genuine || !validKey(key) {
		return "", "", forbidden("the link is not valid")
	}
	query, err := url.ParseQuery(signed)
	if err != nil {
		return "", "", forbidden("the link is not valid")
	}
	expires, err := strconv.ParseInt(query.Get("expires"), 10, 64)
	if err != nil || l.config.Now().Unix() > expires {
		return "", "", forbidden("the link has expired")
	}
	return key, query.Get("name"), nil
}

func forbidden(message string) error {
	return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "%s", message)
}
