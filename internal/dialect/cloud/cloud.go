// Package cloud is the dialect of Meta's Cloud API for WhatsApp: its requests below /cloud/v{N}.0/, and the
// bodies that it posts to webhooks. A token is an API key; a phone number ID and the ID of a business account
// are an instance's UUID or the number of its account.
//
// Files hold what they are named after: instance.go who is meant by an ID, app.go what belongs to Meta's apps,
// subscription.go webhooks, message.go and content.go what is sent, template.go templates, media.go files, profile.go the account itself, event.go and
// incoming.go what is posted to webhooks, error.go what is refused.
package cloud

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/dialect"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/required"
)

// Path is what all paths of the dialect begin with.
const Path = "/cloud/"

// Config holds the parts of the dialect.
type Config struct {
	Gateway *dialect.Gateway
	Bodies  *body.Reader // of requests
	// Guard keeps handshakes from private addresses; nil: they may go anywhere.
	Guard *outbound.Guard
	// BaseURL is the address under which a request has reached the gateway, and whether links can begin with it.
	BaseURL func(*http.Request) (base string, usable bool)
	Logger  *slog.Logger
}

// Cloud answers requests in the dialect. It is safe for concurrent use.
type Cloud struct {
	config     Config
	handshakes *http.Client
	numbers    numbers
}

// New makes the dialect.
func New(config Config) (*Cloud, error) {
	if err := required.Check("cloud", config, "Guard"); err != nil {
		return nil, err
	}
	return &Cloud{config: config, handshakes: newHandshakes(config.Guard)}, nil
}

// call is one request.
type call struct {
	cloud *Cloud
	http  *http.Request
	api   *client.Client
	id    string // that the path names, as the client has written it; empty for none
	// instance is who is meant by the ID.
	instance client.Instance
	message  client.StoredMessage // with the file, where the ID is that of a file
	upload   client.Upload        // where the ID is that of one
	body     []byte               // a JSON object
	uploads  bool                 // whether the body may have a file
	form     *body.Body           // that has it
}

// route is an operation: its answer is written as JSON.
type route func(*call) (any, error)

// routes are the operations, by method and what follows the ID in the path.
func routes() map[string]route {
	return map[string]route{
		"GET": node,

		"POST messages":                  postMessage,
		"POST media":                     uploadMedia,
		"GET phone_numbers":              phoneNumbers,
		"POST register":                  registered,
		"POST deregister":                registered,
		"GET message_templates":          listTemplates,
		"POST message_templates":         createTemplate,
		"DELETE message_templates":       deleteTemplates,
		"GET subscribed_apps":            listSubscribedApps,
		"POST subscribed_apps":           subscribeApp,
		"DELETE subscribed_apps":         unsubscribeApp,
		"GET whatsapp_business_profile":  getProfile,
		"POST whatsapp_business_profile": changeProfile,
		"GET block_users":                listBlocked,
		"POST block_users":               block,
		"DELETE block_users":             unblock,
	}
}

// mediaRoutes are the operations whose ID is that of a file, by method.
func mediaRoutes() map[string]route {
	return map[string]route{"GET": getMedia, "DELETE": deleteMedia}
}

// uploadRoutes are those whose ID is that of an upload.
func uploadRoutes() map[string]route {
	return map[string]route{"GET": getUpload, "DELETE": deleteUpload}
}

// version is that of Meta's API. It makes no difference.
var version = regexp.MustCompile(`^v\d{1,3}\.\d{1,3}$`)

// ServeHTTP answers a request. Who has no valid key learns nothing else.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := c.answer(w, r) //nolint:contextcheck // it is that of the request
	if err != nil {
		refused := c.refuse(w, r, err)
		c.answered(r, refused.status, refused.details)
		return
	}
	c.answered(r, http.StatusOK, "")
	if err := write(w, http.StatusOK, answer); err != nil {
		c.config.Logger.DebugContext(r.Context(), "cloud: the client has not read the answer", slog.Any("error", err))
	}
}

// answered tells how a request was answered. Its operation is named by the method and the end of the path, which is not an ID.
func (c *Cloud) answered(r *http.Request, status int, reason string) {
	operation := "{id}"
	if parts := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, Path), "/"), "/"); len(parts) > 2 {
		operation = parts[2]
	}
	c.config.Gateway.Answered(r, "cloud", token(r), status, r.Method+" "+operation, reason)
}

func (c *Cloud) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	key := token(r)
	if key == "" {
		return nil, errNoToken
	}
	made := &call{cloud: c, http: r, api: c.config.Gateway.As(r, "cloud", key)}
	answer, known := made.find()
	if err := made.authenticate(key, known); err != nil {
		return nil, err
	}
	if !known {
		return nil, noSuchPath(r.URL.Path)
	}
	if r.Method != http.MethodGet {
		done, err := made.read(w, key)
		defer done()
		if err != nil {
			return nil, err
		}
	}
	return answer(made)
}

// find finds the operation of a path, and sets the ID that the path names.
func (c *call) find() (answer route, known bool) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(c.http.URL.Path, Path), "/"), "/")
	if len(parts) < 2 || len(parts) > 3 || !version.MatchString(parts[0]) {
		return nil, false
	}
	if len(parts) == 2 && parts[1] == "debug_token" && c.http.Method == http.MethodGet {
		return debugToken, true
	}
	c.id = parts[1]
	if _, _, ok := parseMediaID(c.id); ok && len(parts) == 2 {
		answer, known = mediaRoutes()[c.http.Method]
		return answer, known
	}
	if isUploadID(c.id) && len(parts) == 2 {
		answer, known = uploadRoutes()[c.http.Method]
		return answer, known
	}
	c.uploads = len(parts) == 3 && parts[2] == "media"
	answer, known = routes()[strings.Join(append([]string{c.http.Method}, parts[2:]...), " ")]
	return answer, known
}

// authenticate refuses a key that is not valid, and finds the instance that the path names.
func (c *call) authenticate(key string, known bool) error {
	if !known || c.id == "" {
		_, err := c.api.ListInstances(c.http.Context(), client.ListInstancesParams{}, 1, 1)
		return err
	}
	if _, _, ok := parseMediaID(c.id); ok {
		return c.findMessage()
	}
	if isUploadID(c.id) {
		return c.findUpload()
	}
	var err error
	c.instance, err = c.findInstance(key)
	return err
}

// read reads the body of a request. Its caller calls done at the end, also after an error.
func (c *call) read(w http.ResponseWriter, key string) (done func(), err error) {
	// What bodies share is divided by keys, whose accounts are not known here.
	name := "cloud " + hashed(key)
	requester := gateway.Requester{AccountID: name, ID: name, Kind: "this API key"}
	field := ""
	if c.uploads {
		field = body.FilePart
	}
	read, err := c.cloud.config.Bodies.Read(w, c.http.WithContext(gateway.WithRequester(c.http.Context(), requester)), field)
	done = func() { _ = read.Close() } // its file is a temporary one
	if err != nil {
		return done, err
	}
	c.form = read
	c.body = read.JSON()
	if kind, _, _ := strings.Cut(c.http.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) == "application/x-www-form-urlencoded" {
		return done, c.readForm()
	}
	if len(bytes.TrimSpace(c.body)) == 0 {
		c.body = []byte("{}")
	}
	return done, nil
}

// hashed stands for a key where the key itself should not be.
func hashed(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// readForm makes an object of a form, as Meta's own examples send it.
func (c *call) readForm() error {
	form, err := url.ParseQuery(string(c.body))
	if err != nil {
		return invalid("the form can't be read")
	}
	fields := map[string]string{}
	for name := range form {
		fields[name] = form.Get(name)
	}
	c.body, err = json.Marshal(fields)
	return err
}

// decode reads the body into a struct.
func (c *call) decode(target any) error {
	err := json.Unmarshal(c.body, target)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalid("the field " + wrong.Field + " is a " + wrong.Value + ", which it can't be")
	}
	if err != nil {
		return invalid("the body is not JSON: " + err.Error())
	}
	return nil
}

// token is the API key of a request, which older clients write into the address.
func token(r *http.Request) string {
	if scheme, key, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	return r.URL.Query().Get("access_token")
}

// write writes JSON.
func write(w http.ResponseWriter, status int, answer any) error {
	encoded, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err = w.Write(encoded)
	return err
}

// success is the answer where there is nothing else to say.
type success struct {
	Success bool `json:"success"`
}

// page is a list of which there is one page.
type page[T any] struct {
	Data   []T      `json:"data"`
	Paging struct{} `json:"paging"`
}

// pageOf makes the page of a list, which is never null.
func pageOf[T any](items ...T) page[T] {
	if items == nil {
		items = []T{}
	}
	return page[T]{Data: items}
}
