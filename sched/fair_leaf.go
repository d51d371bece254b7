package sched

// This file keeps the list of those queues of a CPU whose load may change by itself; leaf_cfs_rq_list. A
// queue stands in front of that of the group above, the root at the end. Most groups of a big machine are
// asleep on most of its CPUs, and not in the list.

// leafLink is the place of a queue in that list.
type leafLink struct {
	leafPrev, leafNext *cfsRQ
	onList             bool
}

// linkLeaf puts cfs into the list, and the queues above that are not there; list_add_leaf_cfs_rq(). A
// branch whose groups all come begins at the head of the list. Who is in the list has the queue above there,
// too; kernels take out what is throttled, here it is passed over.
func (rq *RQ) linkLeaf(cfs *cfsRQ) {
	var after *cfsRQ
	for !cfs.onList {
		up := cfs.se.cfsRQ
		cfs.onList = true
		rq.fading.leaves++
		if up.onList {
			cfs.leafPrev, cfs.leafNext = up.leafPrev, up
		} else {
			cfs.leafPrev, cfs.leafNext = after, rq.leafHead
			if after != nil {
				cfs.leafNext = after.leafNext
			}
		}
		if cfs.leafPrev != nil {
			cfs.leafPrev.leafNext = cfs
		} else {
			rq.leafHead = cfs
		}
		cfs.leafNext.leafPrev = cfs
		after, cfs = cfs, up
	}
}

// unlinkLeaf takes cfs out of the list; list_del_leaf_cfs_rq().
func (rq *RQ) unlinkLeaf(cfs *cfsRQ) {
	if !cfs.onList {
		return
	}
	if cfs.leafPrev != nil {
		cfs.leafPrev.leafNext = cfs.leafNext
	} else {
		rq.leafHead = cfs.leafNext
	}
	cfs.leafNext.leafPrev = cfs.leafPrev
	cfs.leafLink = leafLink{}
	rq.fading.leaves--
}

// decayed is cfs_rq_is_decayed(): nothing of its load is left, nor is a queue below in the list.
func (cfs *cfsRQ) decayed() bool {
	if cfs.load.weight != 0 || !cfs.avg.decayed() || cfs.tgLoadAvgContrib != 0 || cfs.removed.nr > 0 {
		return false
	}
	below := cfs.leafPrev
	return below == nil || below.se.cfsRQ != cfs
}
