// Package evolution speaks the language of the Evolution API, version 2: what its users' flows ask for, and what
// they read. Routes are in routes; a file holds the operations of a resource. Format is the language of events.
//
// Names of fields, and what an operation answers with, are that API's. Where this gateway does something
// else, docs/evolution.md says so.
package evolution

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/dialect"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

const (
	// Prefix is how the path of every operation begins.
	Prefix = "/evolution"
	// name is the dialect, for logs.
	name = "evolution"
	// version is the version of the Evolution API that is spoken. Tools read it.
	version = "2.3.7"
)

// Config holds what a Handler needs.
type Config struct {
	Gateway *dialect.Gateway
	Bodies  *body.Reader // reads the bodies of requests
	Logger  *slog.Logger
}

// Handler answers the requests of the dialect. It is safe for concurrent use.
type Handler struct {
	config Config
	routes map[string]operation
}

// New makes a handler.
func New(config Config) (*Handler, error) {
	if err := required.Check("evolution", config); err != nil {
		return nil, err
	}
	return &Handler{config: config, routes: operations()}, nil
}

// object is a JSON object, with that API's names.
type object = map[string]any

// call is a request of an operation.
type call struct {
	handler *Handler
	request *http.Request
	key     string
	client  *client.Client

	instance client.Instance // unless the operation is of none
	called   string          // the instance, as the request calls it
	fields   fields
	file     *client.File // the file that came in the body; nil for none
}

// ctx is the context of the request.
func (c *call) ctx() context.Context { return c.request.Context() }

// id is the instance's identifier.
func (c *call) id() string { return c.instance.InstanceID }

// query is a value of the query; empty if it is left out.
func (c *call) query(name string) string { return c.request.URL.Query().Get(name) }

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	path := strings.TrimPrefix(r.URL.EscapedPath(), Prefix)
	if r.Method == http.MethodGet && (path == "" || path == "/") {
		write(w, http.StatusOK, object{
			"status": http.StatusOK, "message": "Welcome to the Evolution API, it is working!",
			"version": version, "clientName": "recado", "documentation": "/docs/evolution",
		})
		return
	}
	c := &call{handler: h, request: r, key: keyOf(r)}
	c.client = h.config.Gateway.As(r, name, c.key)
	status, answer, err := c.run(w, path) //nolint:contextcheck // the request has it
	if err != nil {
		refused := c.fail(w, err) //nolint:contextcheck // the request has it
		reason, _ := refused.message.([]string)
		c.answered(refused.status, path, strings.Join(reason, " "))
		return
	}
	c.answered(status, path, "")
	if written, streams := answer.(streamed); streams {
		w.Header().Set("Content-Type", jsonType)
		w.WriteHeader(status)
		if err := written(w); err != nil {
			panic(http.ErrAbortHandler) // the client has gone, or has to see that the answer is not whole
		}
		return
	}
	write(w, status, answer)
}

// answered tells how a request was answered.
func (c *call) answered(status int, path, reason string) {
	tool, operation, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	operation, _, _ = strings.Cut(operation, "/")
	c.handler.config.Gateway.Answered(c.request, name, c.key, status, cut(tool+"/"+operation), reason)
}

// streamed is an answer that is too large to be held.
type streamed func(w io.Writer) error

// run carries out what is asked for. The key is looked at before everything else.
func (c *call) run(w http.ResponseWriter, path string) (status int, answer any, err error) {
	if c.key == "" {
		return 0, nil, errUnauthorized
	}
	op, instance, known := c.handler.find(c.request.Method, path)
	if !known {
		if _, err := c.client.ListInstances(c.ctx(), client.ListInstancesParams{}, 1, 1); err != nil {
			return 0, nil, err
		}
		return 0, nil, refuse(http.StatusNotFound, "Cannot "+c.request.Method+" "+cut(path))
	}
	if instance == "" {
		_, err = c.client.ListInstances(c.ctx(), client.ListInstancesParams{}, 1, 1)
	} else {
		c.called = cut(instance)
		c.instance, err = c.find(instance)
	}
	if err != nil {
		return 0, nil, err
	}
	if c.request.Method != http.MethodGet {
		// Who asks is known by the key alone: what all share is divided by it.
		of := gateway.WithRequester(c.ctx(), gateway.Requester{AccountID: c.key, ID: c.key, Kind: "this API key"})
		read, err := c.handler.config.Bodies.ReadBare(w, c.request.WithContext(of), op.media)
		defer func() {
			if err := read.Close(); err != nil {
				c.handler.config.Logger.WarnContext(c.ctx(), "the file of a request is still on the disk; the next start removes it", slog.Any("error", err))
			}
		}()
		if err != nil {
			return 0, nil, err
		}
		if c.fields, err = read.Object(); err != nil {
			return 0, nil, err
		}
		if m := read.Media(); m != nil {
			c.file = &client.File{Content: io.NewSectionReader(m.Content, 0, m.Size), Name: c.fields.text("fileName")}
			if c.file.Name == "" {
				c.file.Name = read.FileName()
			}
		}
	}
	if op.refused != "" {
		return 0, nil, refuse(http.StatusNotImplemented, op.refused)
	}
	answer, err = op.do(c)
	return op.status, answer, err
}

// find returns the operation of a path and the name of the instance in it. An operation of an instance needs
// one; a name in the path of another operation is ignored, as that API does.
func (h *Handler) find(method, path string) (op operation, instance string, known bool) {
	parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
	if len(parts) < 2 {
		return op, "", false
	}
	op, known = h.routes[method+" /"+parts[0]+"/"+parts[1]]
	if !known {
		op, known = h.routes[method+" /"+parts[0]] // a tool as a whole
	}
	if len(parts) == 3 {
		instance = strings.TrimSuffix(parts[2], "/")
	}
	switch decoded, err := url.PathUnescape(instance); {
	case !known || err != nil:
		return op, "", false
	case op.none:
		return op, "", true
	default:
		return op, decoded, decoded != "" || op.refused != ""
	}
}

// keyOf returns the API key of a request, in any of the places where tools have it.
func keyOf(r *http.Request) string {
	if key := r.Header.Get("apikey"); key != "" {
		return key
	}
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	if scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(key)
	}
	return ""
}

// find returns the instance that somebody names: by its identifier, by its external name, or by its name if no other
// instance of the key has it.
func (c *call) find(named string) (client.Instance, error) {
	found, err := c.named(named)
	switch {
	case err != nil:
		return client.Instance{}, err
	case len(found) == 0:
		return client.Instance{}, noInstance(named)
	case len(found) > 1:
		return client.Instance{}, refuse(http.StatusConflict, "The name \""+cut(named)+"\" is that of several instances: use their instanceId")
	default:
		return found[0], nil
	}
}

// idLength is how long the identifier of an instance is.
const idLength = 36

// named returns the instances with an identifier or a name.
func (c *call) named(named string) (found []client.Instance, err error) {
	if len(named) == idLength {
		instance, err := c.client.GetInstance(c.ctx(), named)
		if err == nil {
			return []client.Instance{instance}, nil
		}
		if !isCode(err, client.CodeInstanceNotFound, client.CodeForbidden, client.CodeValidationError, client.CodeNotFound) {
			return nil, err
		}
	}
	if named != "" && utf8.RuneCountInString(named) <= maxEcho { // no external name is longer
		called, err := c.client.ListInstances(c.ctx(), client.ListInstancesParams{ExternalName: named}, 1, 1)
		if err != nil || len(called.Data) == 1 {
			return called.Data, err
		}
	}
	for instance, err := range c.client.Instances(c.ctx(), client.ListInstancesParams{}) {
		if err != nil {
			return nil, err
		}
		if instance.Name == named {
			found = append(found, instance)
		}
	}
	return found, nil
}

// wait ends after a time, or with the request.
func (c *call) wait(duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.ctx().Done():
		return context.Cause(c.ctx())
	}
}

const jsonType = "application/json; charset=utf-8"

// write writes an answer. It ignores errors: they mean that the client has gone.
func write(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(answer)
}

// isCode reports whether an error is the gateway's refusal with one of these codes.
func isCode(err error, codes ...string) bool {
	refusal, ok := errors.AsType[*client.Error](err)
	return ok && slices.Contains(codes, refusal.Code)
}
