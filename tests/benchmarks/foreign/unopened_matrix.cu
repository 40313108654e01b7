// The product of a sparse matrix of f64 with a vector, whose rows are a stencil of five points: of rows within the grid, places of
// entries and columns follow from the row, at its edge from the arrays of the matrix. Written for this repository after the
// description of the measured kernel.
extern "C" __global__ void stencil_rows(const int *__restrict__ starts, const int *__restrict__ columns, const double *__restrict__ entries,
                                        const double *__restrict__ x, double *__restrict__ y, int count, int side, double factor) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= count) return;
    int i = row / side, j = row % side;
    double sum = 0;
    if (i > 0 && i < side - 1 && j > 0 && j < side - 1) {
        int first = 3 + (side - 2) * 4 + 3, inner = 4 + (side - 2) * 5 + 4;
        int at = first + (i - 1) * inner + 4 + (j - 1) * 5;
        sum = entries[at + 1] * x[row - 1] + entries[at + 2] * x[row] + entries[at + 3] * x[row + 1] + entries[at] * x[row - side] +
              entries[at + 4] * x[row + side];
    } else {
        int end = starts[row + 1];
#pragma unroll 8
        for (int k = starts[row]; k < end; k++) sum += entries[k] * x[columns[k]];
    }
    y[row] = factor * sum;
}
