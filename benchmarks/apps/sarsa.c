/*
 * sarsa: two elevators learn to share their passengers.
 *
 * An example application: one of the two parameter sweeps of chapter 6 of
 * Oprescu's thesis. SARSA (state-action-reward-state-action; Rummery and
 * Niranjan, 1994) learns which of two elevators should answer a call, so that
 * the total waiting time of all passengers becomes small.
 *
 * The building. One epoch is a day of DAY seconds in which the passengers
 * arrive at random times; half of them start on the ground floor, the others
 * on any floor, and each goes to some other floor. A car moves one floor a
 * second and stands DOORS seconds to let people out and in. It goes on in its
 * direction as long as somebody wants it to, then turns round.
 *
 * Learning. The moment a passenger arrives, a car is chosen:
 *   state   for each car, the seconds of travel until it can be there and how
 *           many passengers it has, in a few classes
 *   action  which car; at random with probability epsilon
 *   reward  minus the seconds that this passenger waits for it
 *     Q(s,a) += alpha * (r + gamma * Q(s',a') - Q(s,a))
 * with (s',a') the choice for the next passenger. A reward is known only once
 * the passenger is aboard, so the updates of a day are made at its end, in the
 * order of the calls. The two cars are alike: Q is stored by the state of the
 * chosen car and that of the other one. Epsilon falls linearly to 0 over the
 * epochs. Every epoch is another day. After the last one a day that depends
 * on nothing but seed, floors and passengers is served greedily and, beside
 * it, by sending the nearest car.
 */
#include <getopt.h>
#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"

#define PROGRAM "sarsa"
#define CARS 2
#define DAY 3600   /* seconds in which passengers arrive */
#define DOORS 5    /* seconds of a stop */
#define CAPACITY 6 /* passengers in a car */
#define FLOORS_MAX 40
#define TRAVEL_CLASSES 16
#define LOAD_CLASSES 8
#define CAR_STATES (TRAVEL_CLASSES * LOAD_CLASSES)

struct parameters {
    long seed;
    long epochs;
    double alpha;
    double gamma;
    double epsilon;
    int floors;
    int passengers;
};

struct passenger {
    int arrival; /* second of the day */
    int from, to;
    int car; /* that was chosen */
    bool aboard, gone;
    double *q; /* Q(s,a) of that choice */
    int waited;
};

struct car {
    int floor;
    int direction;           /* +1, -1 */
    int doors;               /* seconds until they close; 0 = closed */
    int waiting[FLOORS_MAX]; /* passengers it has to fetch, by floor */
    int aboard[FLOORS_MAX];  /* by destination */
    int n_waiting, n_aboard;
};

/* A day that is being served. */
struct day {
    struct passenger *all; /* in the order of their arrival */
    int first;             /* everybody before is gone */
    int called;            /* number that have arrived */
    struct car cars[CARS];
};

struct learner {
    double q[CAR_STATES][CAR_STATES]; /* chosen car, other car */
    const struct parameters *p;
    gsl_rng *rng;
    double epsilon;
};

enum strategy { LEARNED, NEAREST };

static void usage(FILE *out)
{
    fputs("usage: sarsa [--seed N] [--epochs N] [--alpha X] [--gamma X] "
          "[--epsilon X]\n"
          "             [--floors N] [--passengers N]\n"
          "Two elevators learn to share their passengers; prints one line "
          "with the seconds\n"
          "that all passengers together wait after the last epoch, and if "
          "the nearest car\n"
          "were sent.\n",
          out);
}

static struct parameters parse_arguments(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"epochs", required_argument, NULL, 'n'},
        {"alpha", required_argument, NULL, 'a'},
        {"gamma", required_argument, NULL, 'g'},
        {"epsilon", required_argument, NULL, 'e'},
        {"floors", required_argument, NULL, 'f'},
        {"passengers", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct parameters p = {.seed = 1,
                           .epochs = 500,
                           .alpha = 0.05,
                           .gamma = 0.5,
                           .epsilon = 0.2,
                           .floors = 10,
                           .passengers = 700};
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 's':
            p.seed = args_whole(PROGRAM, "seed", optarg, 0, 2147483647);
            break;
        case 'n':
            p.epochs = args_whole(PROGRAM, "epochs", optarg, 1, 10000000);
            break;
        case 'a':
            p.alpha = args_real(PROGRAM, "alpha", optarg, 0.0, 1.0);
            break;
        case 'g':
            p.gamma = args_real(PROGRAM, "gamma", optarg, 0.0, 1.0);
            break;
        case 'e':
            p.epsilon = args_real(PROGRAM, "epsilon", optarg, 0.0, 1.0);
            break;
        case 'f':
            p.floors =
                (int)args_whole(PROGRAM, "floors", optarg, 2, FLOORS_MAX);
            break;
        case 'p':
            p.passengers =
                (int)args_whole(PROGRAM, "passengers", optarg, 1, 5000);
            break;
        case 'h':
            usage(stdout);
            exit(0);
        default:
            usage(stderr);
            exit(2);
        }
    }
    if (optind < argc)
        args_fail(PROGRAM, "what is \"%s\"? (try --help)", argv[optind]);
    return p;
}

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n, size);

    if (memory == NULL) {
        fputs(PROGRAM ": out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static int below(gsl_rng *rng, int n)
{
    return (int)gsl_rng_uniform_int(rng, (unsigned long)n);
}

static int by_arrival(const void *a, const void *b)
{
    const struct passenger *x = a, *y = b;

    return x->arrival - y->arrival;
}

static void draw_passengers(gsl_rng *rng, const struct parameters *p,
                            struct passenger *all)
{
    for (int i = 0; i < p->passengers; i++) {
        all[i] = (struct passenger){.arrival = below(rng, DAY)};
        all[i].from = below(rng, 2) == 0 ? 0 : below(rng, p->floors);
        all[i].to = below(rng, p->floors - 1);
        all[i].to += all[i].to >= all[i].from;
    }
    qsort(all, (size_t)p->passengers, sizeof *all, by_arrival);
}

/* ---- the cars ---- */

static bool wanted_at(const struct car *car, int floor)
{
    return car->waiting[floor] > 0 || car->aboard[floor] > 0;
}

/* Somebody wants the car on a floor ahead of it. */
static bool wanted_ahead(const struct car *car, int floors)
{
    for (int f = car->floor + car->direction; f >= 0 && f < floors;
         f += car->direction)
        if (wanted_at(car, f))
            return true;
    return false;
}

static void let_out_and_in(struct day *day, int i, int now)
{
    struct car *car = &day->cars[i];

    car->n_aboard -= car->aboard[car->floor];
    car->aboard[car->floor] = 0;
    for (int k = day->first; k < day->called; k++) {
        struct passenger *who = &day->all[k];

        if (who->car != i)
            continue;
        if (who->aboard && who->to == car->floor)
            who->gone = true;
        if (who->aboard || who->from != car->floor ||
            car->n_aboard == CAPACITY)
            continue;
        who->aboard = true;
        who->waited = now - who->arrival;
        car->waiting[who->from]--;
        car->n_waiting--;
        car->aboard[who->to]++;
        car->n_aboard++;
    }
    while (day->first < day->called && day->all[day->first].gone)
        day->first++;
}

/* One second of car i. */
static void step(struct day *day, int i, int floors, int now)
{
    struct car *car = &day->cars[i];

    if (car->doors > 0) {
        car->doors--;
    } else if (car->aboard[car->floor] > 0 ||
               (car->waiting[car->floor] > 0 && car->n_aboard < CAPACITY)) {
        let_out_and_in(day, i, now);
        car->doors = DOORS;
    } else if (car->n_waiting + car->n_aboard > 0) {
        if (!wanted_ahead(car, floors))
            car->direction = -car->direction;
        car->floor += car->direction;
    }
}

/* Seconds of travel until the car can be at `floor`, stops not counted. */
static int travel(const struct car *car, int floor, int floors)
{
    int turn = car->floor; /* where it will turn round */

    if (car->n_waiting + car->n_aboard == 0 ||
        (floor - car->floor) * car->direction >= 0)
        return abs(floor - car->floor);
    for (int f = car->floor; f >= 0 && f < floors; f += car->direction)
        if (wanted_at(car, f))
            turn = f;
    return abs(turn - car->floor) + abs(turn - floor);
}

/* ---- learning ---- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int car_state(const struct car *car, int floor, int floors)
{
    /* The longest way is up and down again, without a stop. */
    int width = (2 * floors + TRAVEL_CLASSES - 1) / TRAVEL_CLASSES;
    int far = least(travel(car, floor, floors) / width, TRAVEL_CLASSES - 1);

    return far * LOAD_CLASSES +
           least(car->n_waiting + car->n_aboard, LOAD_CLASSES - 1);
}

/* Chooses a car for somebody who calls from `floor`. */
static int choose(struct learner *l, const struct day *day, int floor,
                  double **q)
{
    int s0 = car_state(&day->cars[0], floor, l->p->floors);
    int s1 = car_state(&day->cars[1], floor, l->p->floors);
    double *value[CARS] = {&l->q[s0][s1], &l->q[s1][s0]};
    int car = *value[1] > *value[0];

    if (*value[0] == *value[1] || gsl_rng_uniform(l->rng) < l->epsilon)
        car = below(l->rng, CARS);
    *q = value[car];
    return car;
}

static int nearest(const struct day *day, int floor, int floors)
{
    return travel(&day->cars[1], floor, floors) <
           travel(&day->cars[0], floor, floors);
}

static void call(struct learner *l, enum strategy strategy, struct day *day)
{
    struct passenger *who = &day->all[day->called++];
    struct car *car;

    if (strategy == NEAREST)
        who->car = nearest(day, who->from, l->p->floors);
    else
        who->car = choose(l, day, who->from, &who->q);
    car = &day->cars[who->car];
    car->waiting[who->from]++;
    car->n_waiting++;
}

/* Serves a day; returns the seconds that all passengers waited together. */
static long serve(struct learner *l, enum strategy strategy,
                  struct passenger *all)
{
    struct day day = {.all = all};
    int n = l->p->passengers;
    long total = 0;

    for (int i = 0; i < n; i++)
        all[i].aboard = all[i].gone = false;
    day.cars[0].direction = day.cars[1].direction = 1;
    for (int now = 0; day.first < n; now++) {
        while (day.called < n && all[day.called].arrival <= now)
            call(l, strategy, &day);
        for (int i = 0; i < CARS; i++)
            step(&day, i, l->p->floors, now);
    }
    for (int i = 0; i < n; i++)
        total += all[i].waited;
    return total;
}

static void learn(struct learner *l, const struct passenger *all)
{
    int n = l->p->passengers;

    for (int i = 0; i < n; i++) {
        double next = i + 1 < n ? *all[i + 1].q : 0.0;

        *all[i].q +=
            l->p->alpha * (-all[i].waited + l->p->gamma * next - *all[i].q);
    }
}

int main(int argc, char **argv)
{
    struct parameters p = parse_arguments(argc, argv);
    struct learner *l = allocate(1, sizeof *l);
    struct passenger *last = allocate((size_t)p.passengers, sizeof *last);
    struct passenger *all = allocate((size_t)p.passengers, sizeof *all);
    long learned;

    l->p = &p;
    l->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(l->rng, (unsigned long)p.seed);
    draw_passengers(l->rng, &p, last);
    for (long epoch = 0; epoch < p.epochs; epoch++) {
        l->epsilon = p.epsilon * (1.0 - (double)epoch / (double)p.epochs);
        draw_passengers(l->rng, &p, all);
        serve(l, LEARNED, all);
        learn(l, all);
    }
    l->epsilon = 0.0;
    learned = serve(l, LEARNED, last);
    printf("sarsa seed=%ld epochs=%ld alpha=%g gamma=%g epsilon=%g floors=%d "
           "passengers=%d waiting_s=%ld nearest_car_s=%ld\n",
           p.seed, p.epochs, p.alpha, p.gamma, p.epsilon, p.floors,
           p.passengers, learned, serve(l, NEAREST, last));
    gsl_rng_free(l->rng);
    free(last);
    free(all);
    free(l);
    if (fflush(stdout) != 0) {
        perror(PROGRAM);
        return 1;
    }
    return 0;
}
