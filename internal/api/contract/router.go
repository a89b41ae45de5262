package contract

import (
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// router finds the handler of a path and method. The mux of net/http does the
// matching of paths; the answers to wrong methods, unknown paths and doubled slashes
// are made here, because the mux answers these with plain text or a redirect.
type router struct {
	mux   *http.ServeMux
	paths map[string]*route
	// aspects are the paths that say last what of a thing is meant, such as
	// /api/message/{instanceId}/{messageId}/votes, by their common pattern and that word.
	aspects map[string]map[string]*route
}

// route is one path: its handlers by method, and the path of partners that is called so besides.
type route struct {
	handlers map[string]http.HandlerFunc
	partners func() *route // nil if there is none
}

func newRouter() *router {
	r := &router{mux: http.NewServeMux(), paths: map[string]*route{}, aspects: map[string]map[string]*route{}}
	r.mux.HandleFunc("/", unknownRoute)
	return r
}

// HandleFunc adds a handler for a pattern of method, blank and path, as huma
// gives them.
func (r *router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	method, name, _ := strings.Cut(pattern, " ")
	if r.paths[name] == nil {
		r.paths[name] = &route{handlers: map[string]http.HandlerFunc{}, partners: func() *route { return r.paths[partnersOf(name)] }}
		r.add(name, r.paths[name])
	}
	r.paths[name].handlers[method] = handler
	if method == http.MethodGet {
		r.paths[name].handlers[http.MethodHead] = handler // net/http drops the body
	}
}

// partnersOf is the path of the partner interface that another one is looked for as.
func partnersOf(name string) string { return "/api/partner" + strings.TrimPrefix(name, "/api") }

// aspect is a path whose last two parts before a word are not fixed.
var aspect = regexp.MustCompile(`^(.*/\{\w+\}/\{\w+\}/)([\w-]+)$`)

// thing is a path whose last two parts are not fixed, such as
// /api/message/{instanceId}/{messageId}; other paths have the name of an operation in the last
// one's place. word is such a name: no identifier is one, so it is an unknown path. otherWord is
// a name as other programs call operations, such as sendText: it may be an identifier, but hardly one
// that somebody asks for with another method.
var (
	thing     = regexp.MustCompile(`/\{\w+\}/\{(\w+)\}$`)
	word      = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	otherWord = regexp.MustCompile(`^[a-z]+([A-Z][a-z]+)+$`)
)

// add makes the mux serve a path. It would refuse …/{instanceId}/{messageId}/votes beside
// …/{instanceId}/media-download-link/{messageId}, because neither is part of the other. So
// such paths share a pattern with a wildcard at its end, which is more general than both.
func (r *router) add(name string, handlers *route) {
	if last := thing.FindStringSubmatch(name); last != nil {
		r.mux.HandleFunc(name, func(w http.ResponseWriter, request *http.Request) {
			called := request.PathValue(last[1])
			if word.MatchString(called) || handlers.handlers[request.Method] == nil && otherWord.MatchString(called) {
				unknownRoute(w, request)
				return
			}
			handlers.ServeHTTP(w, request)
		})
		return
	}
	parts := aspect.FindStringSubmatch(name)
	if parts == nil {
		r.mux.Handle(name, handlers)
		return
	}
	shared, word := parts[1]+"{aspect}", parts[2]
	if r.aspects[shared] == nil {
		words := map[string]*route{}
		r.aspects[shared] = words
		r.mux.HandleFunc(shared, func(w http.ResponseWriter, request *http.Request) {
			found, ok := words[request.PathValue("aspect")]
			if !ok {
				unknownRoute(w, request)
				return
			}
			request.Pattern = parts[1] + request.PathValue("aspect")
			found.ServeHTTP(w, request)
		})
	}
	r.aspects[shared][word] = handlers
}

// ServeHTTP answers a request, also one without a handler.
func (r *router) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if !isClean(request.URL.EscapedPath()) {
		unknownRoute(w, request)
		return
	}
	r.mux.ServeHTTP(w, request)
}

// isClean reports whether the mux serves the path without a redirect.
func isClean(name string) bool {
	return name != "" && name[0] == '/' && (name == "/" || path.Clean(name) == strings.TrimSuffix(name, "/"))
}

// ServeHTTP answers a request for a path that exists.
func (r *route) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	exchangeOf(request.Context()).pattern = request.Pattern
	if handler, ok := r.handlers[request.Method]; ok {
		handler(w, request)
		return
	}
	w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(r.handlers)), ", "))
	text := "this path does not have the method " + request.Method
	if other := r.partners(); other != nil && other.handlers[request.Method] != nil {
		text += "; " + partnersOf(request.URL.Path) + " has it, for partner keys"
	}
	exchangeOf(request.Context()).fail(w, gateway.Errorf(gateway.MethodNotAllowed, gateway.CodeMethodNotAllowed, "%s", text))
}

func unknownRoute(w http.ResponseWriter, request *http.Request) {
	exchangeOf(request.Context()).fail(w, gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such path"))
}
