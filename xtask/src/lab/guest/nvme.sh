# An NVMe disk: its counters and the block layer's events count what was asked, no more and no less.
. /lab/functions
modprobe nvme
wait_for /dev/nvme0n1
mounted /dev/nvme0n1 /mnt/nvme
read_2048 /mnt/nvme
has '"name": "nvme0n1"' 1
has '"read_ios": 2048' 1
has '"issued": 2048' 1
# It answers 1 if it has found something.
fathom doctor /mnt/nvme || [ $? = 1 ]
every_part NVMe /mnt/nvme nvme0n1
umount /mnt/nvme
