/* device.h - how the CUDA back end runs code and holds memory on a device. All of its kernels are
 * instances of three: each (one call for each index), total (a sum over indices) and teams (blocks
 * of threads that share memory). Without a CUDA compiler the same text is ordinary C++ and runs on
 * the processor, as a virtual device: that is how it is tested where there is no card.
 *
 * Nothing depends on the order in which threads run: sums have a fixed order, and atomic operations
 * are minima and maxima. The first failure is kept in `failed`; after it nothing is launched, and
 * numbers that are asked for are NaN. */
#ifndef CAIRN_BACKEND_CUDA_DEVICE_H
#define CAIRN_BACKEND_CUDA_DEVICE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "base/common.h"

#ifdef __CUDACC__
#include <mutex>

#include <cub/cub.cuh>
#include <cuda_runtime.h>
#endif

/* A number of many, counted. */
struct Counted {
    int64_t x = 0;
    ANYWHERE void add(const Counted &more)
    {
        x += more.x;
    }
};

enum { TEAM = 256, WARP = 32 }; /* threads of a team; those that run in step     */
enum { TOTAL_TEAMS = 1024 };    /* teams of a sum, at most: its order depends on it */
enum { ALONE = 24 };            /* sums over fewer indices, in units of TEAM, take one team */
enum { TEAMS_AT_ONCE = 4 };     /* that a multiprocessor has registers for, at least  */

/* When a kernel may begin: after the one before it, or while that one ends. */
enum Turn { IN_TURN, EARLY };

/* Memory and work of one system on the device. */
struct Device {
    bool failed = false;
    size_t bytes = 0;          /* in use by this system          */
    std::vector<void *> taken; /* what `release` frees           */
    void *partial = nullptr;   /* sums of teams, see total       */
    size_t partial_bytes = 0;
#ifdef __CUDACC__
    cudaStream_t stream = nullptr;
    bool overlaps = false; /* kernels may begin EARLY */

    void check(cudaError_t status)
    {
        failed = failed || status != cudaSuccess;
    }
#endif

    bool open();
    void release();
    void *take_bytes(size_t count);
    void upload_bytes(void *to, const void *from, size_t count);
    void download_bytes(void *to, const void *from, size_t count);
    void wait(); /* until everything that was launched is done: others may read it then */

    /* An array on the device, not initialised. NULL: no memory. At least one element, so that NULL
     * has this meaning only. */
    template <class T> T *take(size_t count)
    {
        return static_cast<T *>(take_bytes((count + 1) * sizeof(T)));
    }

    /* A copy of a host array on the device; NULL if there is none, or no memory. */
    template <class T> T *copy_of(const T *host, size_t count)
    {
        T *x = host ? take<T>(count) : nullptr;
        if (x)
            upload_bytes(x, host, count * sizeof(T));
        return x;
    }
};

#ifdef __CUDACC__

/* ---- on a card ------------------------------------------------------------------------------ */

/* Memory comes from the driver's pool and goes back to it, so that a step that needs as much as the
 * one before does not wait for the driver. */
inline bool Device::open()
{
    cudaMemPool_t pool;
    int device = 0;
    uint64_t keep = UINT64_MAX;
    check(cudaGetDevice(&device));
    if (!failed)
        check(cudaDeviceGetDefaultMemPool(&pool, device));
    if (!failed)
        check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (!failed)
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int major = 0;
    if (!failed)
        check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    overlaps = major >= 9;
    return !failed;
}

inline void Device::release()
{
    for (void *x : taken)
        cudaFreeAsync(x, stream);
    taken.clear();
    if (stream) {
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
    }
    stream = nullptr;
}

inline void Device::wait()
{
    if (!failed)
        check(cudaStreamSynchronize(stream));
}

inline void *Device::take_bytes(size_t count)
{
    void *x = nullptr;
    if (failed || cudaMallocAsync(&x, count, stream) != cudaSuccess) {
        cudaGetLastError(); /* no memory is this system's failure, not the process's */
        failed = true;
        return nullptr;
    }
    taken.push_back(x);
    bytes += count;
    return x;
}

/* Large copies go through two buffers that the card can reach by itself: while it moves one of
 * them, some threads fill or empty the other. The driver's own way is four to ten times slower.
 * They belong to the plug-in, since locking memory takes longer than a step. */
enum { STAGE = 16 << 20, STAGED = 1 << 20, PIECES = 16 }; /* bytes; from this size on; of a copy */
enum { FEW = 4096 }; /* bytes: numbers that the host waits for, as sums */

struct Stage {
    char *room[2] = { nullptr, nullptr }, *few = nullptr;
    cudaEvent_t free[2] = { nullptr, nullptr };
    std::mutex one_at_a_time; /* several worlds may step at once */

    /* False: there is none, and copies go the driver's way. */
    bool open()
    {
        for (int k = 0; k < 2 && !free[1]; k++)
            if (cudaMallocHost(reinterpret_cast<void **>(&room[k]), STAGE) != cudaSuccess ||
                cudaEventCreateWithFlags(&free[k], cudaEventDisableTiming) != cudaSuccess) {
                cudaGetLastError();
                return false;
            }
        return true;
    }

    bool open_few()
    {
        if (!few && cudaMallocHost(reinterpret_cast<void **>(&few), FEW) != cudaSuccess) {
            cudaGetLastError();
            few = nullptr;
        }
        return few != nullptr;
    }

    ~Stage()
    {
        if (few)
            cudaFreeHost(few);
        for (int k = 0; k < 2; k++) {
            if (free[k])
                cudaEventDestroy(free[k]);
            if (room[k])
                cudaFreeHost(room[k]);
        }
    }

    static void copy(void *to, const void *from, size_t count)
    {
        size_t part = (count + PIECES - 1) / PIECES;
        /* by as many threads as others use: a team of another size would end and start threads */
#pragma omp parallel for
        for (int k = 0; k < PIECES; k++) {
            size_t begin = (size_t)k * part < count ? (size_t)k * part : count;
            size_t end = begin + part < count ? begin + part : count;
            memcpy((char *)to + begin, (const char *)from + begin, end - begin);
        }
    }
};

static Stage stage;

inline void Device::upload_bytes(void *to, const void *from, size_t count)
{
    std::lock_guard<std::mutex> lock(stage.one_at_a_time);
    if (failed || count == 0)
        return;
    if (count < STAGED || !stage.open()) {
        check(cudaMemcpyAsync(to, from, count, cudaMemcpyHostToDevice, stream));
        return;
    }
    int k = 0;
    for (size_t at = 0; at < count && !failed; at += STAGE, k = 1 - k) {
        size_t bytes = count - at < STAGE ? count - at : STAGE;
        check(cudaEventSynchronize(stage.free[k]));
        Stage::copy(stage.room[k], (const char *)from + at, bytes);
        check(
            cudaMemcpyAsync((char *)to + at, stage.room[k], bytes, cudaMemcpyHostToDevice, stream));
        check(cudaEventRecord(stage.free[k], stream));
    }
}

/* Waits for everything that was launched before. */
inline void Device::download_bytes(void *to, const void *from, size_t count)
{
    std::lock_guard<std::mutex> lock(stage.one_at_a_time);
    bool staged = count >= STAGED && !failed && stage.open();
    bool few = count <= FEW && !failed && stage.open_few();
    if (!staged && !failed && count)
        check(cudaMemcpyAsync(few ? stage.few : to, from, count, cudaMemcpyDeviceToHost, stream));
    for (size_t at = 0, done = 0; staged && done < count && !failed;) {
        /* one piece ahead: piece p is in room p % 2 */
        for (; at < count && at < done + 2 * (size_t)STAGE; at += STAGE) {
            size_t bytes = count - at < STAGE ? count - at : STAGE;
            int k = (int)(at / STAGE % 2);
            check(cudaEventSynchronize(stage.free[k]));
            check(cudaMemcpyAsync(stage.room[k], (const char *)from + at, bytes,
                                  cudaMemcpyDeviceToHost, stream));
            check(cudaEventRecord(stage.free[k], stream));
        }
        int k = (int)(done / STAGE % 2);
        size_t bytes = count - done < STAGE ? count - done : STAGE;
        check(cudaEventSynchronize(stage.free[k]));
        Stage::copy((char *)to + done, stage.room[k], bytes);
        done += STAGE;
    }
    if (!failed)
        check(cudaStreamSynchronize(stream));
    if (few && !failed)
        memcpy(to, stage.few, count);
}

template <class F> __global__ void each_kernel(int64_t count, F f)
{
    int64_t i = (int64_t)blockIdx.x * TEAM + threadIdx.x;
    if (i < count)
        f(i);
}

/* f(i) for i < count, in any order. */
template <class F> void each(Device &d, int64_t count, F f)
{
    if (d.failed || count <= 0)
        return;
    each_kernel<<<(unsigned)((count + TEAM - 1) / TEAM), TEAM, 0, d.stream>>>(count, f);
    d.check(cudaGetLastError());
}

/* What the thread `distance` places further on in the warp has, word by word. */
template <class T> __device__ T further_on(const T &own, int distance)
{
    static_assert(sizeof(T) % sizeof(unsigned) == 0, "sums are whole words");
    T other;
    const unsigned *from = reinterpret_cast<const unsigned *>(&own);
    unsigned *to = reinterpret_cast<unsigned *>(&other);
    for (size_t k = 0; k < sizeof(T) / sizeof(unsigned); k++)
        to[k] = __shfl_down_sync(~0u, from[k], (unsigned)distance);
    return other;
}

/* The sum over the threads of a team, in a fixed order, to its first thread: within each warp, then
 * over the warps. It uses the shared memory, of which there is room for TEAM/WARP sums. */
template <class T> __device__ void add_up(T &own, T *shared)
{
    int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % WARP;
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        own.add(further_on(own, distance));
    if (lane == 0)
        shared[warp] = own;
    __syncthreads();
    for (int k = 1; threadIdx.x == 0 && k < TEAM / WARP; k++)
        own.add(shared[k]);
}

template <class T, class F> __global__ void total_kernel(int64_t count, F f, T *out)
{
    __shared__ __align__(16) char room[TEAM / WARP * sizeof(T)];
    T own = T();
    for (int64_t i = (int64_t)blockIdx.x * TEAM + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * TEAM)
        f(i, own);
    add_up(own, reinterpret_cast<T *>(room));
    if (threadIdx.x == 0)
        out[blockIdx.x] = own;
}

/* The sum of T over indices: f(i, sum) adds to `sum`. T() is zero, T::add adds. */
template <class T, class F> T total(Device &d, int64_t count, F f)
{
    T sum = T();
    if (count <= 0)
        return sum;
    size_t need = (TOTAL_TEAMS + 1) * sizeof(T);
    if (d.partial_bytes < need) {
        d.partial = d.take_bytes(need);
        d.partial_bytes = d.partial ? need : 0;
    }
    if (d.failed)
        return sum;
    int64_t wanted = (count + TEAM - 1) / TEAM;
    int teams = (int)(wanted <= ALONE ? 1 : wanted < TOTAL_TEAMS ? wanted : TOTAL_TEAMS);
    /* the card writes the sum to memory of the host, which saves a copy */
    static_assert(sizeof(T) <= FEW, "sums are small");
    std::unique_lock<std::mutex> lock(stage.one_at_a_time);
    T *partial = static_cast<T *>(d.partial), *all = partial + TOTAL_TEAMS;
    T *host = stage.open_few() ? reinterpret_cast<T *>(stage.few) : nullptr;
    if (host)
        all = host;
    total_kernel<<<teams, TEAM, 0, d.stream>>>(count, f, teams > 1 ? partial : all);
    auto again = [=] __device__(int64_t i, T & to) { to.add(partial[i]); };
    if (teams > 1)
        total_kernel<<<1, TEAM, 0, d.stream>>>((int64_t)teams, again, all);
    d.check(cudaGetLastError());
    if (host) {
        d.wait();
        return d.failed ? sum : *host;
    }
    lock.unlock();
    d.download_bytes(&sum, all, sizeof sum);
    return sum;
}

/* One thread's view of its team. */
template <class T> struct Team {
    T own = T(); /* what this thread has added up */
    char *shared;

    __device__ int threads() const
    {
        return TEAM;
    }

    /* f(i) for begin <= i < end by the threads of the team, then a barrier. */
    template <class F> __device__ void each(int begin, int end, F f)
    {
        for (int i = begin + (int)threadIdx.x; i < end; i += TEAM)
            f(i);
        __syncthreads();
    }

    /* For kernels that begin EARLY, of at most TEAM indices: load(i), from memory that the kernel
     * before does not write; then, when that one has ended, visit(i, what was loaded). */
    template <class L, class F> __device__ void each_later(int begin, int end, L load, F visit)
    {
        int i = begin + (int)threadIdx.x;
        auto loaded = load(i < end ? i : begin);
#if __CUDA_ARCH__ >= 900
        cudaGridDependencySynchronize();
#endif
        if (i < end)
            visit(i, loaded);
        __syncthreads();
    }

    /* The next kernel may begin now, if it is one that begins EARLY. */
    __device__ void let_next_begin()
    {
#if __CUDA_ARCH__ >= 900
        cudaTriggerProgrammaticLaunchCompletion();
#endif
    }

    /* Write the sum over all threads. It uses the shared memory. */
    __device__ void store_sum(T *out)
    {
        add_up(own, reinterpret_cast<T *>(shared));
        if (threadIdx.x == 0)
            *out = own;
    }
};

template <class T, class F> __global__ void __launch_bounds__(TEAM, TEAMS_AT_ONCE) teams_kernel(F f)
{
    extern __shared__ __align__(16) char shared[];
    Team<T> team;
    team.shared = shared;
    f(team, (int)blockIdx.x);
}

/* A launch that may begin before the kernel before it has ended, where the card can do that. */
template <class T, class F>
cudaError_t launch_early(cudaStream_t stream, int count, size_t bytes, F f)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)count);
    config.blockDim = dim3(TEAM);
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, teams_kernel<T, F>, f);
}

/* f(team, k) for k < count: teams of threads that share `shared` bytes of memory. */
template <class T, class F>
void teams(Device &d, int count, size_t shared, F f, Turn turn = IN_TURN)
{
    size_t least = TEAM / WARP * sizeof(T), bytes = shared > least ? shared : least;
    if (d.failed || count <= 0)
        return;
    if (bytes > 48 * 1024)
        d.check(cudaFuncSetAttribute(teams_kernel<T, F>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    if (turn == EARLY && d.overlaps)
        d.check(launch_early<T>(d.stream, count, bytes, f));
    else
        teams_kernel<T><<<count, TEAM, bytes, d.stream>>>(f);
    d.check(cudaGetLastError());
}

/* Sort by keys below 2^bits; equal keys keep their order. Keys and values are replaced. */
template <class K> void sort_by(Device &d, int64_t count, int bits, K *&key, int32_t *&value)
{
    K *other_key = d.take<K>((size_t)count);
    int32_t *other_value = d.take<int32_t>((size_t)count);
    size_t room = 0;
    cub::DoubleBuffer<K> keys(key, other_key);
    cub::DoubleBuffer<int32_t> values(value, other_value);
    if (d.failed || count <= 0)
        return;
    d.check(cub::DeviceRadixSort::SortPairs(nullptr, room, keys, values, count, 0, bits, d.stream));
    void *scratch = d.take_bytes(room + 1);
    if (!d.failed)
        d.check(
            cub::DeviceRadixSort::SortPairs(scratch, room, keys, values, count, 0, bits, d.stream));
    key = keys.Current();
    value = values.Current();
}

/* Replace numbers by the sums of those before them and return the sum of all; it fails, as without
 * memory, if that is too large for an int. */
inline int sum_before(Device &d, int64_t count, int32_t *x)
{
    const int32_t *from = x;
    int64_t all =
        total<Counted>(d, count, [=] __device__(int64_t i, Counted & to) { to.x += from[i]; }).x;
    size_t room = 0;
    d.failed = d.failed || all > INT32_MAX;
    if (d.failed || count <= 0)
        return 0;
    d.check(cub::DeviceScan::ExclusiveSum(nullptr, room, from, x, count, d.stream));
    void *scratch = d.take_bytes(room + 1);
    if (!d.failed)
        d.check(cub::DeviceScan::ExclusiveSum(scratch, room, from, x, count, d.stream));
    return (int)all;
}

/* Bring memory that will be read soon into the cache of the card. */
__device__ inline void fetch_soon(const void *x)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(x));
}

/* *x = min(*x, value) */
__device__ inline void lower_to(unsigned long long *x, unsigned long long value)
{
    atomicMin(x, value);
}

/* *x = max(*x, value) of numbers >= 0, whose bits are in the same order. */
__device__ inline void raise_to(double *x, double value)
{
    atomicMax(reinterpret_cast<unsigned long long *>(x),
              (unsigned long long)__double_as_longlong(value));
}

/* Bytes that are left on the device, with those that the pool of the driver holds for reuse. */
inline double device_room()
{
    size_t left = 0, all = 0;
    uint64_t held = 0, used = 0;
    cudaMemPool_t pool;
    if (cudaMemGetInfo(&left, &all) != cudaSuccess ||
        cudaDeviceGetDefaultMemPool(&pool, 0) != cudaSuccess)
        return 0;
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &held);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    return (double)left + (double)(held - used);
}

/* A kernel to ask for. */
struct Probe {
    unsigned nothing = 0;

    __device__ void add(const Probe &) {}
    __device__ void operator()(int64_t, Probe &) const {}
};

/* Why this machine cannot run the back end; NULL: it can. */
inline const char *device_reason()
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver)
        return "there is no NVIDIA driver, or it is older than the CUDA of this back end";
    if (status != cudaSuccess)
        return cudaGetErrorString(status);
    if (count == 0)
        return "there is no CUDA device";
    int pools = 0;
    cudaFuncAttributes kernel;
    cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, 0);
    if (!pools)
        return "its driver gives no pools of memory";
    if (cudaFuncGetAttributes(&kernel, total_kernel<Probe, Probe>) != cudaSuccess) {
        cudaGetLastError();
        return "the card is older than those that this back end was built for";
    }
    return nullptr;
}

#define FOR_DEVICE __device__

#else

/* ---- on the processor ------------------------------------------------------------------------ */

inline bool Device::open()
{
    return true;
}

inline void Device::release()
{
    for (void *x : taken)
        ::operator delete(x);
    taken.clear();
}

inline void Device::wait() {}

inline void *Device::take_bytes(size_t count)
{
    void *x = failed ? nullptr : ::operator new(count, std::nothrow);
    failed = failed || !x;
    if (x) {
        taken.push_back(x);
        bytes += count;
    }
    return x;
}

inline void Device::upload_bytes(void *to, const void *from, size_t count)
{
    if (!failed && count)
        std::memcpy(to, from, count);
}

inline void Device::download_bytes(void *to, const void *from, size_t count)
{
    if (!failed && count)
        std::memcpy(to, from, count);
}

template <class F> void each(Device &d, int64_t count, F f)
{
    for (int64_t i = 0; i < count && !d.failed; i++)
        f(i);
}

template <class T, class F> T total(Device &d, int64_t count, F f)
{
    T sum = T();
    for (int64_t i = 0; i < count && !d.failed; i++)
        f(i, sum);
    return sum;
}

template <class T> struct Team {
    T own = T();
    char *shared;

    template <class F> void each(int begin, int end, F f)
    {
        for (int i = begin; i < end; i++)
            f(i);
    }

    template <class L, class F> void each_later(int begin, int end, L load, F visit)
    {
        for (int i = begin; i < end; i++)
            visit(i, load(i));
    }

    void let_next_begin() {}

    void store_sum(T *out)
    {
        *out = own;
    }
};

template <class T, class F>
void teams(Device &d, int count, size_t shared, F f, Turn turn = IN_TURN)
{
    (void)turn;
    char *room = static_cast<char *>(::operator new(shared + 1, std::nothrow));
    d.failed = d.failed || !room;
    for (int k = 0; k < count && !d.failed; k++) {
        Team<T> team;
        team.shared = room;
        f(team, k);
    }
    ::operator delete(room);
}

template <class K> void sort_by(Device &d, int64_t count, int bits, K *&key, int32_t *&value)
{
    (void)bits;
    std::vector<std::pair<K, int32_t>> pairs;
    for (int64_t i = 0; i < count && !d.failed; i++)
        pairs.emplace_back(key[i], value[i]);
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    for (size_t i = 0; i < pairs.size(); i++) {
        key[i] = pairs[i].first;
        value[i] = pairs[i].second;
    }
}

inline int sum_before(Device &d, int64_t count, int32_t *x)
{
    int64_t all = 0;
    for (int64_t i = 0; i < count && !d.failed; i++) {
        int32_t own = x[i];
        x[i] = (int32_t)all;
        all += own;
        d.failed = all > INT32_MAX;
    }
    return d.failed ? 0 : (int)all;
}

inline void fetch_soon(const void *x)
{
    (void)x;
}

inline void lower_to(unsigned long long *x, unsigned long long value)
{
    *x = value < *x ? value : *x;
}

inline void raise_to(double *x, double value)
{
    *x = value > *x ? value : *x;
}

inline double device_room()
{
    return INFINITY;
}

inline const char *device_reason()
{
    return nullptr;
}

#define FOR_DEVICE

#endif

/* The first index with a key of at least `least`, of keys that ascend. */
template <class K>
ANYWHERE static inline int64_t first_at_least(const K *key, int64_t count, K least)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (key[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
