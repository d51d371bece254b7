# what fair.sh does, with load tracking in trace_marker: FILES has fair.sh beside the load
peltlog 5000 per rnd hog n5 &
. /fair.sh
