// Package model has the rules of tenures and leases as models, which a model checker goes through
// whole: tenure.pml says who may write for an instance and what becomes of a message, lease.pml what
// the times of a lease are good for. It has no code but tests. docs/decisions/017 says which code is
// which part of the models.
package model
