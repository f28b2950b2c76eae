// Older compilers are led here, and name this file in their error. They would read the types of the package wrongly, and without
// a word: what a stream yields would be `any`.
