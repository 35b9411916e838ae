/* The page as a whole. */

document.title = visible(data.title) + " - bats-mpi";
element(main, "h1", data.title);
document.querySelector("footer").prepend("Written by bats-mpi at " +
    clock(data.written_s) + ". ");
writeRun();
