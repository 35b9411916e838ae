bats-mpi: 24 tasks on 8 machines (cheap 6, safe 2), budget unlimited, seed 4
bats-mpi: 5s  start: cheap 6, safe 2
bats-mpi: 1h8m  50%  12/24  6 running  6.7/h  2.11 charged  cheap 6 safe 2

bats-mpi: all 24 tasks done in 2h22m

cluster  machines  charge  windows    charged  tasks  mean time  profit  in use
cheap         6/6       1        0   3.957881     23        10m    1.00     97%
safe          2/2      30        0  15.051851      1        10m    0.03     66%
total         8/8                0  19.009732     24

makespan   2h22m (4.3s of real time, time scale 2000)
charged    19.009732 (no budget was set)
reserved   198, as a batch system bills it: all 8 machines held for 3 windows (a
           parked machine is not given back)
timed out  15 times a task ran for too long and was stopped
replicated 8 times an idle machine ran a replica of a task; 5 came first
policy     expert, window 1h, seed 4
strategy   N=1,T=1x,D=2x,Mr=0.4

reconfigurations
      5s  start: cheap 6, safe 2
