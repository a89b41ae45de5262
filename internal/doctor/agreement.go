// What all nodes have to agree about.

package doctor

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/server"
)

// agreement checks whether the nodes have the same values of the settings that must be the same, and whether
// these are the values here.
func (e *examination) agreement(ctx context.Context) []Finding {
	const name = "nodes"
	here := gateway.Node{Name: "this machine", Address: "these settings"}
	if known, err := e.database.FilesOwner(ctx, true); err == nil && known != "" {
		// The check of the files compares the name with that of the storage.
		here.Files = known
	}
	if e.vault != nil && e.config.Server.Cluster.Secret != "" {
		key, found, err := e.database.Secret(ctx, e.vault, server.ClusterHashSecret)
		if err != nil {
			return []Finding{warning(name, "see to the database first", "what they agree about can't be compared: %s", err)}
		}
		if found {
			here.Secrets = e.config.Server.Cluster.Hashes(key)
		}
	}
	compared := []gateway.Node{here}
	var findings []Finding
	for _, node := range e.nodes {
		if node.Lease <= 0 || node.Address == "" {
			continue
		}
		for _, other := range compared {
			if setting := node.Disagrees(other); setting != "" {
				findings = append(findings, wrong(name, "find out which is right, and start the other one with the same "+setting+"; docs/nodes.md says how the secret is changed",
					"%s and %s have different values of %s", about(other), about(node), setting))
			}
		}
		compared = append(compared, node)
	}
	if len(findings) == 0 && len(compared) > 1 {
		findings = []Finding{ok(name, "they agree about the cluster's secret and the place of files, as far as they say")}
	}
	return findings
}

func about(node gateway.Node) string { return fmt.Sprintf("%s (%s)", node.Name, node.Address) }
