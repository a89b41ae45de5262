package api

import "net/http"

// filesPath is where signed links lead.
const filesPath = "/media/{key...}"

// Fail answers a request with the error body of the API, for handlers that this
// package serves without having declared them.
func Fail(w http.ResponseWriter, r *http.Request, err error) {
	exchangeOf(r.Context()).fail(w, err)
}

// serveFiles mounts the handler of signed links: they carry their own right, so
// no key is asked for.
func (s *service) serveFiles() {
	if s.Files != nil {
		s.routes.HandleFunc(http.MethodGet+" "+filesPath, s.Files.ServeHTTP)
	}
}
