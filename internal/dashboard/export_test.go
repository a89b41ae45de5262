package dashboard

import "github.com/recado-project/recado/internal/dashboard/frame"

// Routes is the table of all pages.
func Routes(config Config) []frame.Route { return (&pages{Config: config}).routes() }
