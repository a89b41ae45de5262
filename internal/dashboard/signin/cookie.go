// The cookie of a browser, and what is remembered of it.

package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// lifetime is how long a browser stays signed in, idleTime how long without a request.
	lifetime = 30 * 24 * time.Hour
	idleTime = 7 * 24 * time.Hour
	// seenEvery is how exact the last request is known: a write for each would cost more
	// than the page.
	seenEvery = 10 * time.Minute
	// strangerTime is how long something is remembered of a browser that is not signed in:
	// a link that it has followed, or a question to its passkeys.
	strangerTime = 10 * time.Minute
)

// What is remembered of a browser. All values are text.
const (
	keyUser      = "user"      // the id of who is signed in
	keyEpoch     = "epoch"     // the user's epoch at that time
	keyBrowser   = "browser"   // a name for the browser, which is no secret
	keySeen      = "seen"      // the last request, in Unix seconds
	keyLink      = "link"      // the hash of the link that it came with
	keyChallenge = "challenge" // the question that its passkeys are to answer
)

// cookies gives browsers a secret, and finds what is remembered of them by it.
type cookies struct {
	now func() time.Time
	// plain and secure differ in their cookie alone: with TLS it has a name that only this
	// host can set. The values of a request are in its context, where both find them.
	plain, secure *scs.SessionManager
}

func newCookies(signIns SignIns, now func() time.Time, failed func(http.ResponseWriter, *http.Request, error)) *cookies {
	// Not scs.New: it starts a goroutine for a store that is not used.
	made := func(name string, secure bool) *scs.SessionManager {
		return &scs.SessionManager{
			Lifetime: lifetime, Store: cookieStore{signIns: signIns, now: now}, Codec: cookieCodec{}, ErrorFunc: failed,
			HashTokenInStore: true,
			Cookie: scs.SessionCookie{
				Name: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure, Persist: true,
			},
		}
	}
	return &cookies{now: now, plain: made("recado", false), secure: made("__Host-recado", true)}
}

// handler loads what is remembered of a browser before next, and saves it when the answer
// begins.
func (c *cookies) handler(next http.Handler, isSecure func(r *http.Request) bool) http.Handler {
	plain, secure := c.plain.LoadAndSave(next), c.secure.LoadAndSave(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(context.WithValue(r.Context(), loadedKey{}, new(string)))
		if isSecure(r) {
			secure.ServeHTTP(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	})
}

// known is a browser that somebody has signed in on.
type known struct {
	userID  string
	epoch   int64
	browser string
	until   time.Time // of the sign-in
}

// known returns the browser of a request and whether somebody has signed in on it.
func (c *cookies) known(ctx context.Context) (known, bool) {
	k := known{userID: c.plain.GetString(ctx, keyUser), browser: c.plain.GetString(ctx, keyBrowser), until: c.plain.Deadline(ctx)}
	epoch, err := strconv.ParseInt(c.plain.GetString(ctx, keyEpoch), 10, 64)
	seen, seenErr := strconv.ParseInt(c.plain.GetString(ctx, keySeen), 10, 64)
	idle := c.now().Sub(time.Unix(seen, 0))
	if k.userID == "" || errors.Join(err, seenErr) != nil || idle > idleTime {
		return known{}, false
	}
	if k.epoch = epoch; idle > seenEvery {
		c.plain.Put(ctx, keySeen, strconv.FormatInt(c.now().Unix(), 10))
	}
	return k, true
}

// enter remembers that the user is signed in on the browser, under a new secret: the one before is worth
// nothing any more.
func (c *cookies) enter(ctx context.Context, signedIn gateway.User) error {
	if err := c.plain.Clear(ctx); err != nil {
		return fmt.Errorf("signin: sign in: %w", err)
	}
	if err := c.plain.RenewToken(ctx); err != nil {
		return fmt.Errorf("signin: sign in: %w", err)
	}
	c.plain.SetDeadline(ctx, c.now().Add(lifetime).UTC())
	c.plain.Put(ctx, keyUser, signedIn.ID)
	c.plain.Put(ctx, keyEpoch, strconv.FormatInt(signedIn.Epoch, 10))
	c.plain.Put(ctx, keyBrowser, uuid.NewString())
	c.plain.Put(ctx, keySeen, strconv.FormatInt(c.now().Unix(), 10))
	return nil
}

// forget forgets the browser.
func (c *cookies) forget(ctx context.Context) error {
	if err := c.plain.Destroy(ctx); err != nil {
		return fmt.Errorf("signin: sign out: %w", err)
	}
	return nil
}

// keep remembers a value of the browser, for a short time if nobody is signed in.
func (c *cookies) keep(ctx context.Context, key, value string) {
	if c.plain.GetString(ctx, keyUser) == "" {
		c.plain.SetDeadline(ctx, c.now().Add(strangerTime).UTC())
	}
	c.plain.Put(ctx, key, value)
}

// kept returns a value of the browser; empty for none.
func (c *cookies) kept(ctx context.Context, key string) string { return c.plain.GetString(ctx, key) }

// take returns a value of the browser, and forgets it.
func (c *cookies) take(ctx context.Context, key string) string { return c.plain.PopString(ctx, key) }

// loadedKey is for the hash of the secret that the request came with, if it is known.
type loadedKey struct{}

// cookieStore is the database as the library wants it. It gets hashes of the secrets.
type cookieStore struct {
	signIns SignIns
	now     func() time.Time
}

// FindCtx returns what is remembered of the browser with the secret.
func (s cookieStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	found, ok, err := s.signIns.FindSignIn(ctx, token)
	if err != nil || !ok || !s.now().Before(found.ExpiresAt) {
		return nil, false, err
	}
	if loaded, ok := ctx.Value(loadedKey{}).(*string); ok {
		*loaded = token
	}
	return found.Data, true, nil
}

// CommitCtx stores what is remembered. What was there when the request began, and was
// deleted meanwhile, stays deleted.
func (s cookieStore) CommitCtx(ctx context.Context, token string, content []byte, until time.Time) error {
	var data cookieData
	if err := json.Unmarshal(content, &data); err != nil {
		return fmt.Errorf("signin: read cookie: %w", err)
	}
	signIn := gateway.SignIn{TokenHash: token, UserID: data.Values[keyUser], Data: content, ExpiresAt: until}
	if loaded, ok := ctx.Value(loadedKey{}).(*string); ok && *loaded == token {
		return s.signIns.UpdateSignIn(ctx, signIn)
	}
	return s.signIns.CreateSignIn(ctx, signIn)
}

// DeleteCtx forgets the browser with the secret.
func (s cookieStore) DeleteCtx(ctx context.Context, token string) error {
	return s.signIns.DeleteSignIn(ctx, token)
}

// errNoContext is the answer to calls that the library makes for other stores.
var errNoContext = errors.New("signin: the store of cookies needs a context")

// Find is not called: FindCtx is.
func (cookieStore) Find(string) ([]byte, bool, error) { return nil, false, errNoContext }

// Commit is not called: CommitCtx is.
func (cookieStore) Commit(string, []byte, time.Time) error { return errNoContext }

// Delete is not called: DeleteCtx is.
func (cookieStore) Delete(string) error { return errNoContext }

// cookieData is what is remembered of a browser, as it is stored.
type cookieData struct {
	Until  time.Time         `json:"until"`
	Values map[string]string `json:"values"`
}

// cookieCodec writes it as JSON.
type cookieCodec struct{}

// Encode writes values, all of which are text.
func (cookieCodec) Encode(until time.Time, values map[string]any) ([]byte, error) {
	data := cookieData{Until: until, Values: make(map[string]string, len(values))}
	for key, value := range values {
		text, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("signin: %s of a cookie is no text", key)
		}
		data.Values[key] = text
	}
	content, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("signin: write cookie: %w", err)
	}
	return content, nil
}

// Decode reads values.
func (cookieCodec) Decode(content []byte) (time.Time, map[string]any, error) {
	var data cookieData
	if err := json.Unmarshal(content, &data); err != nil {
		return time.Time{}, nil, fmt.Errorf("signin: read cookie: %w", err)
	}
	values := make(map[string]any, len(data.Values))
	for key, value := range data.Values {
		values[key] = value
	}
	return data.Until, values, nil
}
