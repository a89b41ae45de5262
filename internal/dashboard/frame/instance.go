// What the pages of an instance have in common.

package frame

import (
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// InstanceHead is what the template "instance-head" shows above the pages of an instance.
type InstanceHead struct {
	Instance gateway.Instance
	Tab      string // which of the pages it is
	May      bool   // the visitor may change something
	Refused  string // why the platform can't be asked now; empty if it can
}

// Head returns the head of a page of an instance.
func (r *Request) Head(of gateway.Instance, tab string) InstanceHead {
	return InstanceHead{Instance: of, Tab: tab, May: r.Visitor.May(gateway.RoleOperator)}
}

// maxSearch bounds what is searched for, in bytes.
const maxSearch = 100

// Search is what the request searches for; empty for everything, and for what is too long.
func (r *Request) Search() string {
	search := strings.TrimSpace(r.URL.Query().Get("search"))
	if len(search) > maxSearch {
		return ""
	}
	return search
}
