/*
 * som: a Kohonen self-organising map over Fisher's Iris set.
 *
 * An example application: one of the two parameter sweeps of chapter 6 of
 * Oprescu's thesis. A map of SIZE x SIZE cells, each with a weight vector in
 * the space of the flowers. In every iteration a random flower x pulls the
 * cell nearest to it (the best matching unit, BMU) and the BMU's neighbours
 * towards itself:
 *
 *     w_c += rate(t) * exp(-|c - bmu|^2 / (2 radius(t)^2)) * (x - w_c)
 *
 * Both rate and radius decay exponentially, the rate to 1 % of its first
 * value, the radius to FINAL_RADIUS cells. Source: T. Kohonen, "Self-organized
 * formation of topologically correct feature maps" (1982).
 *
 * Every third flower is kept out of the training, whatever the seed, so that
 * all runs of a sweep are measured against the same flowers:
 *   quantization_error  mean distance of a training flower to its BMU, in cm
 *   topographic_error   share of training flowers whose second-best cell is
 *                       not one of the eight neighbours of the best
 *   accuracy            share of held-out flowers whose nearest labelled cell
 *                       has their class; a cell is labelled with the class of
 *                       most training flowers that it is the BMU of
 */
#include <float.h>
#include <getopt.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

#define PROGRAM "som"
#define FEATURES 4
#define CLASSES 3
#define FLOWERS_MAX 10000
#define EDGE_MAX 100     /* longest edge of a map */
#define FINAL_RADIUS 0.5 /* in cells */

struct flower {
    double x[FEATURES];
    int class; /* 0 .. CLASSES - 1 */
};

struct flowers {
    struct flower *all;
    int n;
};

struct parameters {
    long seed;
    long iterations;
    double rate;   /* first learning rate */
    double radius; /* first radius of the neighbourhood, in cells */
    int size;      /* edge of the map, in cells */
    const char *data;
    bool show_map;
};

struct map {
    int size;
    double (*w)[FEATURES]; /* size * size cells, row by row */
    int *label;            /* class + 1 of each cell; 0 = none */
};

static void usage(FILE *out)
{
    fputs("usage: som --data FILE [--seed N] [--iterations N] [--rate X]\n"
          "           [--radius CELLS] [--size CELLS] [--map]\n"
          "Trains a self-organising map on the Iris flowers in FILE and "
          "prints one result line\n"
          "(--map: and the map, 1 setosa, 2 versicolor, 3 virginica, "
          ". no flower).\n",
          out);
}

static struct parameters parse_arguments(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"iterations", required_argument, NULL, 'i'},
        {"rate", required_argument, NULL, 'l'},
        {"radius", required_argument, NULL, 'r'},
        {"size", required_argument, NULL, 'z'},
        {"data", required_argument, NULL, 'd'},
        {"map", no_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct parameters p = {.seed = 1,
                           .iterations = 20000,
                           .rate = 0.5,
                           .radius = 5.0,
                           .size = 10};
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 's':
            p.seed = args_whole(PROGRAM, "seed", optarg, 0, 2147483647);
            break;
        case 'i':
            p.iterations =
                args_whole(PROGRAM, "iterations", optarg, 1, 1000000000);
            break;
        case 'l':
            p.rate = args_real(PROGRAM, "rate", optarg, 1e-6, 1.0);
            break;
        case 'r':
            p.radius =
                args_real(PROGRAM, "radius", optarg, FINAL_RADIUS, EDGE_MAX);
            break;
        case 'z':
            p.size = (int)args_whole(PROGRAM, "size", optarg, 2, EDGE_MAX);
            break;
        case 'd':
            p.data = optarg;
            break;
        case 'm':
            p.show_map = true;
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
    if (p.data == NULL)
        args_fail(PROGRAM, "--data FILE is missing (try --help)");
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

/* Reads scikit-learn's form: "flowers,features,names", then the flowers. */
static struct flowers read_flowers(const char *path)
{
    FILE *file = fopen(path, "r");
    struct flowers flowers = {0};
    int features;

    if (file == NULL)
        args_fail(PROGRAM, "%s: cannot read it", path);
    if (fscanf(file, "%d,%d,%*[^\n]", &flowers.n, &features) != 2 ||
        features != FEATURES || flowers.n < CLASSES || flowers.n > FLOWERS_MAX)
        args_fail(PROGRAM, "%s:1: not \"flowers,%d,names of classes\"", path,
                  FEATURES);
    flowers.all = allocate((size_t)flowers.n, sizeof *flowers.all);
    for (int i = 0; i < flowers.n; i++) {
        struct flower *f = &flowers.all[i];

        if (fscanf(file, "%lf,%lf,%lf,%lf,%d", &f->x[0], &f->x[1], &f->x[2],
                   &f->x[3], &f->class) != FEATURES + 1 ||
            f->class < 0 || f->class >= CLASSES)
            args_fail(PROGRAM, "%s:%d: not four numbers and a class", path,
                      i + 2);
    }
    fclose(file);
    return flowers;
}

static bool held_out(int flower)
{
    return flower % 3 == 2;
}

static double distance2(const double a[FEATURES], const double b[FEATURES])
{
    double sum = 0.0;

    for (int k = 0; k < FEATURES; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* The cell nearest to `x`; of all cells, or of those with a label. */
static int best_cell(const struct map *map, const double x[FEATURES],
                     bool labelled_only)
{
    double best = DBL_MAX;
    int cell = 0;

    for (int c = 0; c < map->size * map->size; c++) {
        double d = distance2(map->w[c], x);

        if (d < best && (!labelled_only || map->label[c] != 0)) {
            best = d;
            cell = c;
        }
    }
    return cell;
}

static void pull(struct map *map, int bmu, const double x[FEATURES],
                 double rate, double radius)
{
    double near[EDGE_MAX]; /* the Gaussian is a product of two of these */
    int row = bmu / map->size, column = bmu % map->size;

    for (int d = 0; d < map->size; d++)
        near[d] = exp(-d * d / (2.0 * radius * radius));
    for (int r = 0; r < map->size; r++) {
        for (int c = 0; c < map->size; c++) {
            double *w = map->w[r * map->size + c];
            double h = rate * near[abs(r - row)] * near[abs(c - column)];

            for (int k = 0; k < FEATURES; k++)
                w[k] += h * (x[k] - w[k]);
        }
    }
}

static void train(struct map *map, const struct flowers *flowers,
                  const struct parameters *p)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

    gsl_rng_set(rng, (unsigned long)p->seed);
    /* Start on random points between the smallest and the largest flower. */
    for (int k = 0; k < FEATURES; k++) {
        double low = DBL_MAX, high = -DBL_MAX;

        for (int i = 0; i < flowers->n; i++) {
            low = fmin(low, flowers->all[i].x[k]);
            high = fmax(high, flowers->all[i].x[k]);
        }
        for (int c = 0; c < map->size * map->size; c++)
            map->w[c][k] = low + (high - low) * gsl_rng_uniform(rng);
    }
    for (long t = 0; t < p->iterations; t++) {
        double done = (double)t / (double)p->iterations;
        int i;

        do
            i = (int)gsl_rng_uniform_int(rng, (unsigned long)flowers->n);
        while (held_out(i));
        pull(map, best_cell(map, flowers->all[i].x, false), flowers->all[i].x,
             p->rate * pow(0.01, done),
             p->radius * pow(FINAL_RADIUS / p->radius, done));
    }
    gsl_rng_free(rng);
}

static void label_cells(struct map *map, const struct flowers *flowers)
{
    int cells = map->size * map->size;
    int(*votes)[CLASSES] = allocate((size_t)cells, sizeof *votes);

    for (int i = 0; i < flowers->n; i++)
        if (!held_out(i))
            votes[best_cell(map, flowers->all[i].x, false)]
                 [flowers->all[i].class]++;
    for (int c = 0; c < cells; c++) {
        int most = 0;

        for (int k = 0; k < CLASSES; k++) {
            if (votes[c][k] > most) {
                most = votes[c][k];
                map->label[c] = k + 1;
            }
        }
    }
    free(votes);
}

/* The second-best cell for `x` touches the best. */
static bool is_topographic(const struct map *map, const double x[FEATURES],
                           int bmu)
{
    double best = DBL_MAX;
    int second = bmu;

    for (int c = 0; c < map->size * map->size; c++) {
        double d = distance2(map->w[c], x);

        if (c != bmu && d < best) {
            best = d;
            second = c;
        }
    }
    return abs(second / map->size - bmu / map->size) <= 1 &&
           abs(second % map->size - bmu % map->size) <= 1;
}

static void print_result(const struct map *map, const struct flowers *flowers,
                         const struct parameters *p)
{
    double distance = 0.0;
    int trained = 0, torn = 0, tested = 0, right = 0;

    for (int i = 0; i < flowers->n; i++) {
        const struct flower *f = &flowers->all[i];
        int bmu;

        if (held_out(i)) {
            tested++;
            right += map->label[best_cell(map, f->x, true)] == f->class + 1;
            continue;
        }
        trained++;
        bmu = best_cell(map, f->x, false);
        distance += sqrt(distance2(map->w[bmu], f->x));
        torn += !is_topographic(map, f->x, bmu);
    }
    printf("som seed=%ld rate=%g radius=%g iterations=%ld "
           "quantization_error=%.4f topographic_error=%.4f accuracy=%.4f\n",
           p->seed, p->rate, p->radius, p->iterations, distance / trained,
           (double)torn / trained, (double)right / tested);
    if (!p->show_map)
        return;
    for (int c = 0; c < map->size * map->size; c++)
        printf("%c%s", ".123"[map->label[c]],
               (c + 1) % map->size == 0 ? "\n" : " ");
}

int main(int argc, char **argv)
{
    struct parameters p = parse_arguments(argc, argv);
    struct flowers flowers = read_flowers(p.data);
    size_t cells = (size_t)p.size * (size_t)p.size;
    struct map map = {.size = p.size};

    map.w = allocate(cells, sizeof *map.w);
    map.label = allocate(cells, sizeof *map.label);
    train(&map, &flowers, &p);
    label_cells(&map, &flowers);
    print_result(&map, &flowers, &p);
    free(map.w);
    free(map.label);
    free(flowers.all);
    if (fflush(stdout) != 0) {
        perror(PROGRAM);
        return 1;
    }
    return 0;
}
