package control

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
)

// route serves the methods of one path.
func (a *api) route(methods map[string]handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http leaves the body out
		}
		h, ok := methods[method]
		if !ok {
			w.Header().Set("Allow", allowed(methods))
			a.fail(w, r, &failure{status: http.StatusMethodNotAllowed, code: "METHOD_NOT_ALLOWED", message: "this method is not allowed here"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		body, err := h(r)
		switch {
		case err != nil:
			a.fail(w, r, err)
		case body == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			a.respond(w, r, http.StatusOK, body)
		}
	})
}

func allowed(methods map[string]handler) string {
	names := make([]string, 0, len(methods)+1)
	for name := range methods {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (a *api) notFound(w http.ResponseWriter, r *http.Request) {
	a.fail(w, r, &failure{status: http.StatusNotFound, code: "NOT_FOUND", message: "there is no such route"})
}

// unclean answers 404 for paths that the mux would redirect.
func unclean(next http.Handler, unknown http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			unknown(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *api) respond(w http.ResponseWriter, r *http.Request, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // the caller is gone if it fails
}

// fail answers with an error. Internal errors are logged, and their text is not
// sent.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := translate(err)
	if f.status == http.StatusInternalServerError && r.Context().Err() == nil {
		a.config.Logger.LogAttrs(r.Context(), slog.LevelError, "control call failed", slog.Any("error", err))
	}
	writeFailure(w, r.URL.Path, a.config.Now(), f)
}
