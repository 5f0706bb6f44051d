/* The MPI calls of fathom-mpi, wrapped in functions with the same types for every MPI library. Called from one thread only.
   Errors are returned by MPI and make a message one that never arrives: the ranks notice that by themselves. */

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static MPI_Request barrier = MPI_REQUEST_NULL;

/* Returns 0 if MPI was initialised. */
int fathom_mpi_start(void)
{
	int given;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS)
		return 1;
	if (given < MPI_THREAD_FUNNELED)
		return 2;
	return MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) != MPI_SUCCESS;
}

int fathom_mpi_rank(void)
{
	int rank = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return rank;
}

int fathom_mpi_size(void)
{
	int size = 1;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	return size;
}

/* Starts a send; the bytes must stay valid until it is complete. Returns the request, or NULL. */
void *fathom_mpi_send(const void *bytes, int count, int to, int kind)
{
	MPI_Request *request = malloc(sizeof *request);

	if (request == NULL)
		return NULL;
	if (MPI_Isend(bytes, count, MPI_BYTE, to, kind, MPI_COMM_WORLD, request) != MPI_SUCCESS) {
		free(request);
		return NULL;
	}
	return request;
}

/* Whether the send is complete; the request is then freed. */
int fathom_mpi_left(void *request)
{
	int done = 0;

	if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		done = 1;
	if (done)
		free(request);
	return done;
}

/* Whether a message has arrived, with its source, tag and length. */
int fathom_mpi_look(int *from, int *kind, int *count)
{
	MPI_Status status;
	int there = 0;

	if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there)
		return 0;
	*from = status.MPI_SOURCE;
	*kind = status.MPI_TAG;
	return MPI_Get_count(&status, MPI_BYTE, count) == MPI_SUCCESS;
}

/* Receives the probed message; returns 0 on success. */
int fathom_mpi_take(void *bytes, int count, int from, int kind)
{
	return MPI_Recv(bytes, count, MPI_BYTE, from, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

void fathom_mpi_enter_barrier(void)
{
	MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
}

int fathom_mpi_passed_barrier(void)
{
	int done = 0;

	return MPI_Test(&barrier, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
}

/* The library's name and version, truncated to the buffer. */
void fathom_mpi_name(char *text, int room)
{
	char name[MPI_MAX_LIBRARY_VERSION_STRING];
	int length = 0;

	name[0] = 0;
	MPI_Get_library_version(name, &length);
	strncpy(text, name, (size_t)room - 1);
	text[room - 1] = 0;
}

void fathom_mpi_end(void)
{
	MPI_Finalize();
}

void fathom_mpi_abort(int code)
{
	MPI_Abort(MPI_COMM_WORLD, code);
}
