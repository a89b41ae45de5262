// What keeps foreign scripts, frames and forms away from the pages.

package web

import "net/http"

// policy allows what the program itself serves, and nothing else. Scripts and styles are
// files: what a contact or an endpoint has written into a page can't run.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"media-src 'self' blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Secure sets the headers that protect pages, and refuses requests that another site
// makes a browser send, if they do more than read. The refused ones are answered with
// 403.
func Secure(next http.Handler) http.Handler {
	protected := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(self), payment=(), usb=()")
		protected.ServeHTTP(w, r)
	})
}
